"""What a maintainer runs around the doctor."""
