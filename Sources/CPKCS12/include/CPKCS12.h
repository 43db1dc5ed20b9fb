#pragma once
#include <stddef.h>
#include <stdint.h>

// Reads PKCS#12 files (RFC 7292), the `.p12` files that certificates are exported to, with OpenSSL's libcrypto.
//
// A call keeps no state. It has its own library context, with the providers `default` and `legacy`, so it may run on any thread. The rest
// of the process (libpq, libcurl) continues to use OpenSSL without the ciphers of 1996.

/// The result of reading a file.
typedef enum __attribute__((enum_extensibility(closed))) PKCS12Result {
    /// It was read.
    PKCS12ResultRead,
    /// It is not a PKCS#12 file, or is damaged.
    PKCS12ResultMalformed,
    /// The passphrase is wrong.
    PKCS12ResultWrongPassphrase,
    /// It is protected by an unsupported algorithm; the detail is its object identifier.
    PKCS12ResultUnsupported,
    /// It is encrypted with a cipher of the legacy provider, which cannot be loaded; the detail is the cipher's name.
    PKCS12ResultNoLegacyProvider,
    /// It asks for more rounds of key derivation than are allowed.
    PKCS12ResultTooSlow,
    /// OpenSSL has no memory, or its default provider cannot be loaded.
    PKCS12ResultFailed,
} PKCS12Result;

/// Reads a file and writes its private keys (PKCS#8, with their attributes) and certificates as PEM, in the file's order.
///
/// - passphrase: UTF-8; of length 0 for none.
/// - most_rounds: the maximum rounds of all key derivations of the file together; checked before each of them.
/// - providers: the folder with OpenSSL's provider modules; null for the one that OpenSSL was built with.
/// - pem: the buffer for the text; 4 bytes for each byte of the file are enough. `pem_length` gets the number of bytes written.
/// - detail: the buffer for a zero-terminated text; 100 bytes are enough.
PKCS12Result pkcs12_to_pem(const uint8_t *_Nonnull file, size_t file_length, const uint8_t *_Nonnull passphrase,
                           size_t passphrase_length, int64_t most_rounds, const char *_Nullable providers,
                           uint8_t *_Nonnull pem, size_t pem_size, size_t *_Nonnull pem_length, uint8_t *_Nonnull detail,
                           size_t detail_size);
