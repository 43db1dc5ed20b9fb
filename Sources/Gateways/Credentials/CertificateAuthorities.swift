import NIOSSL

/// A PEM file of certificate authorities that an external account trusts.
public enum CertificateAuthorities {
    /// Checks that a file's bytes hold certificates, all of which can be read.
    ///
    /// - Throws: `GatewayCredentialError` that says what is wrong and what to give instead.
    public static func check(_ pem: [UInt8]) throws(GatewayCredentialError) {
        guard (try? NIOSSLCertificate.fromPEMBytes(pem))?.isEmpty == false else {
            throw GatewayCredentialError(.malformed, problem(pem))
        }
    }

    private static func problem(_ pem: [UInt8]) -> String {
        // DER: a SEQUENCE with a long length.
        if pem.starts(with: [0x30, 0x82]) {
            return "it is a certificate in DER: convert it with openssl x509 -inform der -in FILE -out FILE.pem"
        }
        guard pem.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
            return
                "it holds no certificate (\"-----BEGIN CERTIFICATE-----\"): give the PEM file of the authority that has signed the gateway's certificate"
        }
        return "one of its certificates cannot be read: give the PEM file whole, as it was issued"
    }
}
