/// What a PKCS#12 file holds.
struct PKCS12Contents {
    /// Private keys, PKCS#8 in DER.
    var privateKeys: [[UInt8]] = []
    /// Certificates in DER, in the file's order.
    var certificates: [[UInt8]] = []
}
