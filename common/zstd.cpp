#include "common/zstd.h"

#include <algorithm>
#include <memory>
#include <zstd.h>

namespace remotemac {

Result<std::vector<std::uint8_t>> zstd_compress(std::span<const std::uint8_t> bytes, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (!context)
    return Error(ErrorCode::internal, "no memory for compression");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 23);
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  const std::size_t n = ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(n))
    return Error(ErrorCode::internal, std::string("compression failed: ") + ZSTD_getErrorName(n));
  out.resize(n);
  return out;
}

Result<std::vector<std::uint8_t>> zstd_decompress(std::span<const std::uint8_t> bytes, std::size_t max_bytes) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (!context)
    return Error(ErrorCode::internal, "no memory for decompression");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 23);
  std::vector<std::uint8_t> out;
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t left = 1;
  while (left != 0) {
    const std::size_t at = out.size();
    // One byte more than allowed, so that an output of exactly max_bytes can be told from a longer one.
    out.resize(std::min(max_bytes + 1, std::max(at * 2, at + ZSTD_DStreamOutSize())));
    ZSTD_outBuffer output{out.data() + at, out.size() - at, 0};
    const std::size_t before = input.pos;
    left = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(left))
      return Error(ErrorCode::protocol, std::string("compressed data are broken: ") + ZSTD_getErrorName(left));
    out.resize(at + output.pos);
    if (out.size() > max_bytes)
      return Error(ErrorCode::protocol, "compressed data unpack to more than their limit");
    if (left != 0 && output.pos == 0 && input.pos == before)
      return Error(ErrorCode::protocol, "compressed data end too early");
  }
  if (input.pos != input.size)
    return Error(ErrorCode::protocol, "compressed data are followed by other bytes");
  return out;
}

} // namespace remotemac
