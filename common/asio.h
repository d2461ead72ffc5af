#pragma once
// The only include of Boost.Asio in the project; heavy, so only in source files. Task<T> is an awaitable Result<T>.
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "common/result.h"

namespace remotemac {
namespace asio = boost::asio;
template <typename T> using Task = asio::awaitable<Result<T>>;
} // namespace remotemac
