// CPKCS12: reads PKCS#12 files, the .p12 files that certificates are exported to, with OpenSSL's libcrypto.
//
// WHAT IT DOES
//   Turns a file and its passphrase into PEM: the private keys (PKCS#8, with their attributes) and the certificates, in the
//   file's order.
//
// HOW IT IS USED
//   PKCS12File of Gateways calls the only function, pkcs12_to_pem(...), with a buffer for the text. PKCS12Result is the result, and the
//   detail names the algorithm or cipher at fault.
//
// THREADS AND TASKS
//   Any thread. A call has its own library context, with the providers default and legacy, so libpq and libcurl in the same process
//   continue to use OpenSSL without old ciphers. It computes as long as the file's key derivations take.
//
// STATE AND FILES
//   Nothing is kept between calls. OpenSSL's provider modules are loaded from the folder that it was built with, or from the given one.
//
// FAILURES
//   Files come from users. A file is refused if it is malformed, nests too deeply, asks for more rounds of derivation than the caller
//   allows, or uses an unsupported protection; PKCS12Result says which. Rounds are counted before they run. Building needs OpenSSL 3.0 or
//   later.
//
// SEE ALSO
//   include/CPKCS12.h, Sources/Gateways/Credentials/PKCS12File.swift, Sources/COpenSSL/module.modulemap

#include "CPKCS12.h"

#include <limits.h>
#include <openssl/asn1t.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "PushMTA needs OpenSSL 3.0 or later: earlier ones have no providers"
#endif

enum {
    /// The maximum depth of nested bags; no real file nests deeper.
    deepest = 8,
    /// The longest name of an algorithm, with its terminating zero; OpenSSL's own limit (OSSL_MAX_NAME_SIZE).
    longest_name = 50,
};

/// The state of reading one file.
typedef struct {
    OSSL_LIB_CTX *context;
    bool has_legacy;
    /// UTF-8 without a terminating zero; null for none, which differs from an empty one (see `check_mac`).
    const char *passphrase;
    int passphrase_length;
    int64_t rounds_left;
    /// The authentication code was correct, and so is the passphrase.
    bool is_authentic;
    BIO *pem;
    char *detail;
    size_t detail_size;
} reading;

static PKCS12Result unsupported(reading *r, const ASN1_OBJECT *algorithm) {
    OBJ_obj2txt(r->detail, (int)r->detail_size, algorithm, 1);
    return PKCS12ResultUnsupported;
}

/// The result of a failed decryption: with the right passphrase, the file is damaged.
static PKCS12Result not_decrypted(const reading *r) {
    return r->is_authentic ? PKCS12ResultMalformed : PKCS12ResultWrongPassphrase;
}

/// Subtracts the rounds of the next derivation from the file's allowance; a missing number means one round.
static PKCS12Result spend(reading *r, const ASN1_INTEGER *rounds) {
    int64_t count = 1;
    if (rounds != NULL && (!ASN1_INTEGER_get_int64(&count, rounds) || count <= 0)) return PKCS12ResultMalformed;
    if (count > r->rounds_left) return PKCS12ResultTooSlow;
    r->rounds_left -= count;
    return PKCS12ResultRead;
}

/// Checks that this OpenSSL has a cipher. Without the check, a missing one would look like a wrong passphrase.
static PKCS12Result check_cipher(reading *r, const ASN1_OBJECT *algorithm, const char *name) {
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(r->context, name, NULL);
    if (cipher != NULL) {
        EVP_CIPHER_free(cipher);
        return PKCS12ResultRead;
    }
    if (r->has_legacy || OBJ_txt2nid(name) == NID_undef) return unsupported(r, algorithm);
    snprintf(r->detail, r->detail_size, "%s", name);
    return PKCS12ResultNoLegacyProvider;
}

/// PBES2 (RFC 8018), which current files use. Only PBKDF2's cost is a single number, so no other derivation is allowed.
static PKCS12Result check_pbes2(reading *r, const PBE2PARAM *scheme) {
    if (OBJ_obj2nid(scheme->keyfunc->algorithm) != NID_id_pbkdf2) return unsupported(r, scheme->keyfunc->algorithm);
    PBKDF2PARAM *derivation = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), scheme->keyfunc->parameter);
    if (derivation == NULL) return PKCS12ResultMalformed;
    PKCS12Result result;
    char name[longest_name];
    const X509_ALGOR *function = derivation->prf;
    if (function != NULL && !EVP_PBE_find(EVP_PBE_TYPE_PRF, OBJ_obj2nid(function->algorithm), NULL, NULL, NULL)) {
        result = unsupported(r, function->algorithm);
    } else {
        OBJ_obj2txt(name, sizeof name, scheme->encryption->algorithm, 0);
        result = check_cipher(r, scheme->encryption->algorithm, name);
        if (result == PKCS12ResultRead) result = spend(r, derivation->iter);
    }
    PBKDF2PARAM_free(derivation);
    return result;
}

/// Checks an encryption before any key is derived for it.
static PKCS12Result check_protection(reading *r, const X509_ALGOR *protection) {
    int nid = OBJ_obj2nid(protection->algorithm), cipher = NID_undef;
    PKCS12Result result = PKCS12ResultMalformed;
    if (nid == NID_pbes2) {
        PBE2PARAM *scheme = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), protection->parameter);
        if (scheme != NULL) result = check_pbes2(r, scheme);
        PBE2PARAM_free(scheme);
        return result;
    }
    // PKCS#12's own schemes and PBES1, which all have salt and rounds as their parameters.
    if (!EVP_PBE_find(EVP_PBE_TYPE_OUTER, nid, &cipher, NULL, NULL) || cipher <= 0) {
        return unsupported(r, protection->algorithm);
    }
    result = check_cipher(r, protection->algorithm, OBJ_nid2sn(cipher));
    if (result != PKCS12ResultRead) return result;
    PBEPARAM *parameters = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), protection->parameter);
    result = parameters == NULL ? PKCS12ResultMalformed : spend(r, parameters->iter);
    PBEPARAM_free(parameters);
    return result;
}

static PKCS12Result add_key(reading *r, const PKCS8_PRIV_KEY_INFO *key) {
    return PEM_write_bio_PKCS8_PRIV_KEY_INFO(r->pem, key) ? PKCS12ResultRead : PKCS12ResultFailed;
}

static PKCS12Result add_encrypted_key(reading *r, const PKCS12_SAFEBAG *bag) {
    const X509_ALGOR *protection = NULL;
    X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &protection, NULL);
    PKCS12Result result = check_protection(r, protection);
    if (result != PKCS12ResultRead) return result;
    PKCS8_PRIV_KEY_INFO *key = PKCS12_decrypt_skey_ex(bag, r->passphrase, r->passphrase_length, r->context, NULL);
    if (key == NULL) return not_decrypted(r);
    result = add_key(r, key);
    PKCS8_PRIV_KEY_INFO_free(key);
    return result;
}

static PKCS12Result add_certificate(reading *r, const PKCS12_SAFEBAG *bag) {
    // The other kind is SDSI, which is not used.
    if (PKCS12_SAFEBAG_get_bag_nid(bag) != NID_x509Certificate) return PKCS12ResultRead;
    X509 *certificate = PKCS12_SAFEBAG_get1_cert(bag);
    if (certificate == NULL) return PKCS12ResultMalformed;
    PKCS12Result result = PEM_write_bio_X509(r->pem, certificate) ? PKCS12ResultRead : PKCS12ResultFailed;
    X509_free(certificate);
    return result;
}

static PKCS12Result read_bags(reading *r, const STACK_OF(PKCS12_SAFEBAG) *bags, int depth) {
    if (depth > deepest) return PKCS12ResultMalformed;
    PKCS12Result result = PKCS12ResultRead;
    for (int i = 0; i < sk_PKCS12_SAFEBAG_num(bags) && result == PKCS12ResultRead; i++) {
        const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, i);
        switch (PKCS12_SAFEBAG_get_nid(bag)) {
        case NID_keyBag: result = add_key(r, PKCS12_SAFEBAG_get0_p8inf(bag)); break;
        case NID_pkcs8ShroudedKeyBag: result = add_encrypted_key(r, bag); break;
        case NID_certBag: result = add_certificate(r, bag); break;
        case NID_safeContentsBag: result = read_bags(r, PKCS12_SAFEBAG_get0_safes(bag), depth + 1); break;
        // Revocation lists, and secrets.
        default: break;
        }
    }
    return result;
}

/// Reads one part of the file. The decoder treats its content as optional, so it may be missing.
static PKCS12Result read_part(reading *r, PKCS7 *part) {
    STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
    if (PKCS7_type_is_data(part)) {
        if (part->d.data != NULL) bags = PKCS12_unpack_p7data(part);
        if (bags == NULL) return PKCS12ResultMalformed;
    } else if (PKCS7_type_is_encrypted(part)) {
        const PKCS7_ENC_CONTENT *content = part->d.encrypted == NULL ? NULL : part->d.encrypted->enc_data;
        if (content == NULL || content->enc_data == NULL) return PKCS12ResultMalformed;
        PKCS12Result result = check_protection(r, content->algorithm);
        if (result != PKCS12ResultRead) return result;
        bags = PKCS12_unpack_p7encdata(part, r->passphrase, r->passphrase_length);
        if (bags == NULL) return not_decrypted(r);
    } else {
        // Encrypted with a public key: not supported.
        return PKCS12ResultRead;
    }
    PKCS12Result result = read_bags(r, bags, 1);
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    return result;
}

/// Checks the file's authentication code, which distinguishes a wrong passphrase from a damaged file. A file may have none.
static PKCS12Result check_mac(reading *r, PKCS12 *file) {
    if (!PKCS12_mac_present(file)) return PKCS12ResultRead;
    const X509_ALGOR *algorithm = NULL;
    const ASN1_INTEGER *rounds = NULL;
    PKCS12_get0_mac(NULL, &algorithm, NULL, &rounds, file);
    // PBMAC1 (RFC 9579), whose rounds are elsewhere, is not a digest.
    char name[longest_name];
    OBJ_obj2txt(name, sizeof name, algorithm->algorithm, 0);
    EVP_MD *digest = EVP_MD_fetch(r->context, name, NULL);
    if (digest == NULL) return unsupported(r, algorithm->algorithm);
    EVP_MD_free(digest);
    // Some programs encode an empty passphrase as two zero bytes, others as none.
    const char *const passphrases[] = {r->passphrase, NULL};
    for (int i = 0; i < (r->passphrase_length == 0 ? 2 : 1); i++) {
        PKCS12Result result = spend(r, rounds);
        if (result != PKCS12ResultRead) return result;
        if (PKCS12_verify_mac(file, passphrases[i], r->passphrase_length)) {
            r->passphrase = passphrases[i];
            r->is_authentic = true;
            return PKCS12ResultRead;
        }
    }
    return PKCS12ResultWrongPassphrase;
}

static PKCS12Result read_file(reading *r, const uint8_t *bytes, size_t length) {
    // Decoded into an object of our library context, which all later calls then use.
    PKCS12 *file = PKCS12_init_ex(NID_pkcs7_data, r->context, NULL);
    if (file == NULL) return PKCS12ResultFailed;
    const unsigned char *next = bytes;
    if (d2i_PKCS12(&file, &next, (long)length) == NULL) {
        PKCS12_free(file);
        return PKCS12ResultMalformed;
    }
    STACK_OF(PKCS7) *parts = next == bytes + length ? PKCS12_unpack_authsafes(file) : NULL;
    PKCS12Result result = parts == NULL ? PKCS12ResultMalformed : check_mac(r, file);
    for (int i = 0; i < sk_PKCS7_num(parts) && result == PKCS12ResultRead; i++) {
        result = read_part(r, sk_PKCS7_value(parts, i));
    }
    sk_PKCS7_pop_free(parts, PKCS7_free);
    PKCS12_free(file);
    return result;
}

/// Reads a file in a context with a loaded default provider.
static PKCS12Result read_to_pem(reading *r, const uint8_t *bytes, size_t length, uint8_t *pem, size_t pem_size,
                                size_t *pem_length) {
    r->pem = BIO_new(BIO_s_mem());
    if (r->pem == NULL) return PKCS12ResultFailed;
    PKCS12Result result = read_file(r, bytes, length);
    char *text = NULL;
    long count = BIO_get_mem_data(r->pem, &text);
    if (result == PKCS12ResultRead && count > 0) {
        if ((size_t)count > pem_size) {
            result = PKCS12ResultMalformed;
        } else {
            memcpy(pem, text, (size_t)count);
            *pem_length = (size_t)count;
        }
    }
    // This also wipes the text.
    BIO_free(r->pem);
    return result;
}

PKCS12Result pkcs12_to_pem(const uint8_t *file, size_t file_length, const uint8_t *passphrase, size_t passphrase_length,
                           int64_t most_rounds, const char *providers, uint8_t *pem, size_t pem_size, size_t *pem_length,
                           uint8_t *detail, size_t detail_size) {
    *pem_length = 0;
    if (detail_size == 0 || detail_size > INT_MAX || file_length > INT_MAX) return PKCS12ResultFailed;
    detail[0] = 0;
    // The length doubles in UTF-16, and OpenSSL counts it in an int.
    if (passphrase_length > INT_MAX / 4) return PKCS12ResultWrongPassphrase;
    // Errors of this call are removed: other code reads the thread's error queue after its own calls.
    ERR_set_mark();
    PKCS12Result result = PKCS12ResultFailed;
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    if (context != NULL && (providers == NULL || OSSL_PROVIDER_set_default_search_path(context, providers))) {
        OSSL_PROVIDER *basic = OSSL_PROVIDER_load(context, "default");
        OSSL_PROVIDER *legacy = OSSL_PROVIDER_load(context, "legacy");
        if (basic != NULL) {
            reading r = {
                .context = context,
                .has_legacy = legacy != NULL,
                .passphrase = passphrase_length > 0 ? (const char *)passphrase : "",
                .passphrase_length = (int)passphrase_length,
                .rounds_left = most_rounds,
                .detail = (char *)detail,
                .detail_size = detail_size,
            };
            result = read_to_pem(&r, file, file_length, pem, pem_size, pem_length);
        }
        if (legacy != NULL) OSSL_PROVIDER_unload(legacy);
        if (basic != NULL) OSSL_PROVIDER_unload(basic);
    }
    OSSL_LIB_CTX_free(context);
    ERR_pop_to_mark();
    return result;
}
