#include "daemon/worker/domain_rules.h"

namespace remotemac::worker {
namespace {

using enum Domain;

// The first rule that fits holds; what none names gets its values by dtype.
constexpr Rule k_rules[] = {
    // indices
    {"gather index_select index_add index_fill scatter_add scatter_reduce index_reduce take_along_dim gather_backward", "index", index, Bound::of_dim, "self"},
    {"index_select_backward", "index", index, Bound::fixed, {}, 1},
    {"scatter", "index", unique_along, Bound::of_dim, "self"},
    {"index_copy", "index", unique_index, Bound::of_dim, "self"},
    {"take", "index", index, Bound::elements, "self"},
    {"put", "index", unique_index, Bound::elements, "self"},
    {"index _unsafe_index", "indices", index, Bound::position, "self"},
    {"index_put _unsafe_index_put _index_put_impl", "indices", unique_index, Bound::position, "self"},
    {"embedding embedding_bag _embedding_bag _embedding_bag_forward_only", "indices", index, Bound::rows, "weight"},
    {"embedding_bag _embedding_bag _embedding_bag_forward_only", "offsets", constant, Bound::fixed, {}, 0},
    {"embedding_renorm", "indices", index, Bound::rows, "self"},
    {"embedding_backward embedding_dense_backward embedding_sparse_backward", "indices", index, Bound::argument, "num_weights"},
    {"one_hot", "self", index, Bound::argument, "num_classes"},
    {"bincount", "self", index, Bound::fixed, {}, 10},
    {"repeat_interleave", "repeats", index, Bound::fixed, {}, 3},
    {"max_pool2d_with_indices_backward adaptive_max_pool2d_backward fractional_max_pool2d_backward", "indices", index, Bound::plane2, "self"},
    {"max_pool3d_with_indices_backward adaptive_max_pool3d_backward fractional_max_pool3d_backward", "indices", index, Bound::plane3, "self"},
    {"max_unpool2d max_unpool3d", "indices", unique_index, Bound::area, "output_size"},
    // losses
    {"nll_loss nll_loss2d nll_loss_nd nll_loss_forward nll_loss2d_forward nll_loss_backward nll_loss2d_backward cross_entropy_loss multi_margin_loss multi_margin_loss_backward", "target", index, Bound::classes, "self"},
    {"nll_loss_forward nll_loss2d_forward nll_loss nll_loss2d nll_loss_nd", "self", log_rows, Bound::fixed, {}, 1},
    {"nll_loss_backward nll_loss2d_backward", "total_weight", positive},
    {"binary_cross_entropy binary_cross_entropy_backward", "self", unit},
    {"binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits", "target", unit},
    {"kl_div kl_div_backward", "target", unit},
    // softmax and its kin, backward
    {"_softmax_backward_data", "output", rows},
    {"_log_softmax_backward_data", "output", log_rows},
    {"sigmoid_backward tanh_backward logit_backward", "output", unit},
    // domains of functions
    {"log log2 log10 log1p sqrt rsqrt reciprocal pow digamma lgamma polygamma xlogy special_xlog1py special_entr mvlgamma igamma igammac float_power", "self", positive},
    {"_foreach_log _foreach_log2 _foreach_log10 _foreach_log1p _foreach_sqrt _foreach_rsqrt _foreach_reciprocal _foreach_pow _foreach_lgamma", "self", positive},
    {"div floor_divide remainder fmod true_divide xlogy special_xlog1py igamma igammac _foreach_div", "other", positive},
    {"addcdiv", "tensor2", positive},
    {"_foreach_addcdiv", "tensor2", positive},
    {"acosh", "self", above_one},
    {"acos asin atanh erfinv logit special_ndtri", "self", unit},
    {"_foreach_acos _foreach_asin", "self", unit},
    {"grid_sampler grid_sampler_2d grid_sampler_3d grid_sampler_2d_backward grid_sampler_3d_backward", "grid", symmetric},
    {"lerp _foreach_lerp", "weight", unit},
    // statistics kept by layers and optimizers
    {"native_batch_norm cudnn_batch_norm batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_with_update _batch_norm_no_update native_batch_norm_backward batch_norm_backward instance_norm", "running_var", positive},
    {"native_batch_norm_backward batch_norm_backward", "save_invstd", positive},
    {"native_batch_norm_backward batch_norm_backward", "save_var", positive},
    {"native_layer_norm_backward native_group_norm_backward _fused_rms_norm_backward", "rstd", positive},
    {"_fused_adam _fused_adamw", "exp_avg_sqs", positive},
    {"_fused_adam _fused_adamw", "max_exp_avg_sqs", positive},
    {"_fused_adam _fused_adamw _fused_adagrad", "state_steps", constant, Bound::fixed, {}, 3},
    {"_fused_adagrad", "state_sums", positive},
    {"_fused_adam _fused_adamw _fused_sgd _fused_adagrad", "grad_scale", constant, Bound::fixed, {}, 1},
    {"_fused_adam _fused_adamw _fused_sgd _fused_adagrad _amp_foreach_non_finite_check_and_unscale _amp_update_scale", "found_inf", constant, Bound::fixed, {}, 0},
    {"_amp_foreach_non_finite_check_and_unscale", "inv_scale", positive},
    {"_amp_update_scale", "growth_tracker", constant, Bound::fixed, {}, 0},
    {"_amp_update_scale", "self", positive},
    // matrices
    {"linalg_cholesky linalg_cholesky_ex cholesky linalg_inv linalg_inv_ex inverse linalg_eigh _linalg_eigh linalg_eigvalsh linalg_slogdet _linalg_slogdet linalg_det _linalg_det logdet linalg_lu_factor linalg_lu_factor_ex linalg_lu cholesky_inverse linalg_matrix_exp", "self", positive_definite},
    {"linalg_cholesky linalg_cholesky_ex linalg_inv linalg_inv_ex linalg_eigh _linalg_eigh linalg_eigvalsh linalg_slogdet _linalg_slogdet linalg_det _linalg_det linalg_solve linalg_solve_ex _linalg_solve_ex linalg_lu_factor linalg_lu_factor_ex linalg_lu linalg_solve_triangular", "A", positive_definite},
    {"cholesky_solve", "input2", positive_definite},
    {"triangular_solve", "A", positive_definite},
    // random numbers
    {"bernoulli", "self", unit},
    {"bernoulli", "p", unit},
    {"multinomial poisson _standard_gamma", "self", positive},
    {"normal", "std", positive},
    {"binomial", "count", constant, Bound::fixed, {}, 8},
    {"binomial", "prob", unit},
    // search
    {"searchsorted", "sorted_sequence", sorted},
    {"bucketize", "boundaries", sorted},
    // sequences
    {"_pack_padded_sequence", "lengths", constant, Bound::batch_time, "input"},
};

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const bool begins = at == 0 || words[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (begins && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

// "weights" is the list form of "weight".
bool names_it(std::string_view argument, std::string_view name) {
  return name == argument || (name.size() == argument.size() + 1 && name.starts_with(argument) && name.back() == 's');
}

} // namespace

const Rule* find_rule(std::string_view op, std::string_view argument) {
  for (const Rule& rule : k_rules)
    if (names_it(rule.argument, argument) && has_word(rule.ops, op))
      return &rule;
  return nullptr;
}

} // namespace remotemac::worker
