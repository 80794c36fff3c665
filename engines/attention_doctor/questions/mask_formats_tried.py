"""What comes back for every kind of mask, in every format that may be the code's own."""

from collections import Counter

from attention_doctor.questions.masks_compared import beside_a_context, is_expressible, is_right
from attention_doctor.readers import mask_formats
from attention_doctor.readers.mask_formats import EXPANDED, MINIMAL, MaskFormat
from attention_doctor.subjects.arguments import MaskArgument

# A shape that is refused as booleans, as whole numbers, and as floats: it is the shape that isn't taken, and not what
# its entries are. To go on costs a call for each meaning that is left.
MAX_REFUSALS = 4


def answers(session, role, kinds, *, of_context=False):
    """Put each kind of mask in each format.

    Parameters
    ----------
    session : ExamSession
    role : str
        Of the argument.
    kinds : sequence of str
    of_context : bool, optional
        Whether keys come from another sequence.

    Returns
    -------
    answers : dict of (str, MaskFormat) to Response
        By kind and format, of those that were taken.
    errors : list of BaseException
        Of those with the likeliest meaning that were refused: code that hides by booleans refuses all numbers.
    """
    subject = session.subject
    tried = _FormatsTried(session, role, kinds, of_context)
    tried.put_all(subject.meanings_of(role))
    if not tried.answers and subject.kind == "function" and role == "mask":
        # It takes no booleans, though they are agreed on: then numbers.
        tried = _FormatsTried(session, role, kinds, of_context)
        tried.put_all(mask_formats.AGREED_IN_NUMBERS)
    return tried.answers, next(iter(tried.errors.values()), [])


class _FormatsTried:
    """The formats of one argument that were tried so far."""

    def __init__(self, session, role, kinds, of_context):
        self.session, self.role, self.kinds, self.of_context = session, role, kinds, of_context
        self.name = session.subject.arguments.name_of[role]
        self.answers, self.errors = {}, {}
        self._meaning, self._right, self._refusals = None, set(), Counter()

    def put_all(self, meanings):
        for mask_format in mask_formats.formats(self.role, meanings):
            if mask_format.entries != self._meaning:
                if self._right == set(self.kinds):
                    return  # every kind of mask is right in this meaning
                self._meaning, self._right = mask_format.entries, set()
            if not self._may_be_taken(mask_format):
                continue
            for kind in self.kinds:
                if self._tells_more(kind, mask_format):
                    if self.session.is_out_of_calls:
                        return
                    self._put(kind, mask_format)

    def _may_be_taken(self, mask_format):
        subject = self.session.subject
        if self.role == "mask" and subject.kind == "module" and mask_format.shape not in subject.mask_shapes:
            return False
        return self._refusals[mask_format.shape] <= MAX_REFUSALS

    def _tells_more(self, kind, mask_format):
        """Whether it is not known already what comes back."""
        if mask_format.shape in EXPANDED and (kind, MaskFormat(MINIMAL, mask_format.entries)) in self.answers:
            return False  # the smaller array was taken: it broadcasts to this one by itself
        # Where a kind is right, other shapes are of no use, but for the agreed one: whether that is used is asked.
        return kind not in self._right or self.role != "mask" or mask_format.shape == MINIMAL

    def _put(self, kind, mask_format):
        session = self.session
        question = session.subject.mask_question(session.layout, kind)
        if self.of_context:
            question = beside_a_context(session, question)
        if not is_expressible(session, mask_format, question):
            return
        response = session.ask(session.layout, question, MaskArgument(self.name, mask_format))
        if response.output is not None:
            self.answers[kind, mask_format] = response
            if is_right(session, response):
                self._right.add(kind)
        elif response.reply.error is not None:
            self._refusals[mask_format.shape] += 1 / len(self.kinds)
            self.errors.setdefault(mask_format.entries, []).append(response.reply.error)
