/// Why a PKCS#12 file cannot be read.
enum PKCS12Problem: Error {
    /// It is no PKCS#12 file, or a damaged one.
    case malformed
    /// The passphrase is another one.
    case wrongPassphrase
    /// It is protected in a way that is not known here.
    case unsupported(String)
    /// Its passphrase is derived in so many rounds that reading it would hang.
    case tooSlow
}
