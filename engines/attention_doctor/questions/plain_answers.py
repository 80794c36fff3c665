"""What single plain answers tell of how a subject is to be read."""

from attention_doctor.equation.stages import compute
from function_judge.compare import fits


def is_right(response, designs, **tolerance):
    """Whether an answer is what the equation gives in any of these designs."""
    return any(fits(response.output, compute(response.case, right=right)[0], **tolerance) for right in designs)


def with_one_token(plain):
    """The answer for a single token, if it was asked: there is nothing to weigh."""
    return next((response for response in plain if response.question.trait == "one token"), None)


def is_right_with_one_token(session, layout, plain):
    """Whether a single token comes out right: then the parameters of values and output are read rightly."""
    response = with_one_token(plain)
    return response is not None and response.output is not None and is_right(response, session.right_forms(layout))


def with_all_alike(session, layout):
    """What it answers where all tokens are the same: then it makes no difference how they are weighed."""
    question = session.subject.plain_questions(layout)[0].but("tokens that are all alike", alike=True, seed=31)
    return session.ask(layout, question)
