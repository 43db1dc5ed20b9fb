#pragma once
#include <stddef.h>
#include <stdint.h>

// Reads PKCS#12 files (RFC 7292), the `.p12` files that certificates are exported to, by OpenSSL's libcrypto.
//
// A call keeps nothing: it has a library context of its own, with the providers `default` and `legacy`, so that it may run on any
// thread, and what the rest of the process does by OpenSSL (libpq, libcurl) goes on without the ciphers of 1996.

/// What reading a file came to.
typedef enum __attribute__((enum_extensibility(closed))) PKCS12Result {
    /// It was read.
    PKCS12ResultRead,
    /// It is no PKCS#12 file, or a damaged one.
    PKCS12ResultMalformed,
    /// The passphrase is another one.
    PKCS12ResultWrongPassphrase,
    /// It is protected in a way that is not supported; the detail is the algorithm's object identifier.
    PKCS12ResultUnsupported,
    /// It is encrypted with a cipher that only the legacy provider has, which cannot be loaded; the detail is the cipher's name.
    PKCS12ResultNoLegacyProvider,
    /// It asks for more rounds of key derivation than are allowed.
    PKCS12ResultTooSlow,
    /// OpenSSL has no memory, or its default provider cannot be loaded.
    PKCS12ResultFailed,
} PKCS12Result;

/// Reads a file and writes its private keys (PKCS#8, with their attributes) and certificates as PEM, in the file's order.
///
/// - passphrase: UTF-8; of length 0 for none.
/// - most_rounds: what all key derivations of the file together may take; asked before each of them.
/// - providers: the folder with OpenSSL's provider modules; null for the one that OpenSSL was built with.
/// - pem: takes the text; 4 bytes for each byte of the file are enough. `pem_length` tells how many were written.
/// - detail: takes a text with a zero at its end; 100 bytes are enough.
PKCS12Result pkcs12_to_pem(const uint8_t *_Nonnull file, size_t file_length, const uint8_t *_Nonnull passphrase,
                           size_t passphrase_length, int64_t most_rounds, const char *_Nullable providers,
                           uint8_t *_Nonnull pem, size_t pem_size, size_t *_Nonnull pem_length, uint8_t *_Nonnull detail,
                           size_t detail_size);
