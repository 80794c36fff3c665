"""What a maintainer runs around the checks' judgements."""
