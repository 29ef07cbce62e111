// SPDX-License-Identifier: MIT
// crc32c.h: Castagnoli's CRC-32 (polynomial 0x1EDC6F41 reflected, as in iSCSI, RFC 3720 appendix
// B.4).
#ifndef FOLIOT_BASE_CRC32C_H
#define FOLIOT_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

// CRC of the bytes that gave `crc` (0: none) followed by these. "123456789" gives 0xe3069283.
uint32_t foliot__crc32c(uint32_t crc, const void *bytes, size_t count);

#endif
