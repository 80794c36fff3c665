# Written by python -m tools refresh: where an editor finds what is loaded at its first use.

from .a_model_that_writes.logit_lens import logit_lens as logit_lens
from .a_model_that_writes.writer import writer as writer
from .heads_that_learn.training_run import training_run as training_run
from .masking.leak_detector import leak_detector as leak_detector
from .masking.mask_studio import mask_studio as mask_studio
from .masking.the_future_hidden import the_future_hidden as the_future_hidden
from .output_projection.block_tour import block_tour as block_tour
from .output_projection.sum_of_heads import sum_of_heads as sum_of_heads
from .output_projection.which_bug import which_bug as which_bug
from .real_model.a_trained_head import a_trained_head as a_trained_head
from .real_model.head_browser import head_browser as head_browser
from .scaling.coin_tosses import coin_tosses as coin_tosses
from .scaling.find_the_cat import find_the_cat as find_the_cat
from .scaling.softmax_scaling import softmax_scaling as softmax_scaling
from .self_attention.qkv_workbench import qkv_workbench as qkv_workbench
from .self_attention.row_times_column import row_times_column as row_times_column
from .self_attention.two_banks import two_banks as two_banks
from .self_attention.with_and_without_attention import with_and_without_attention as with_and_without_attention
from .self_attention.word_order import word_order as word_order
from .splitting.be_the_head import be_the_head as be_the_head
from .splitting.shape_tracer import shape_tracer as shape_tracer
from .splitting.split_lab import split_lab as split_lab
from .splitting.two_heads import two_heads as two_heads
from .what_a_cache_keeps.cache_cost import cache_cost as cache_cost

LABS: dict[str, tuple[str, ...]]
