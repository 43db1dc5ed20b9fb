import Crypto
import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The authorities that a gateway's certificate is checked against, and whether Apple's is among them.
package struct TrustedRoots: Sendable {
    /// The file that holds them.
    package let file: String
    private let fingerprints: Set<String>

    /// The root of APNs' certificates since January (sandbox) and February (production) of 2025: “USERTrust RSA Certification
    /// Authority”, SHA-2, as Apple announced it in October 2024.
    package static let appleRootName = "USERTrust RSA Certification Authority"
    private static let appleRoot = "e793c9b02fd8aa13e21c31228accb08119643b749c898964b1746d46c3d4cbd2"

    /// Where distributions keep the system's authorities.
    package static let systemFiles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// Reads a PEM file of authorities; without a name, the system's.
    ///
    /// Returns nil if no name is given and the system has none of the usual files.
    ///
    /// - Throws: NIOSSL's error if the file cannot be read or is not a PEM file.
    package init?(file name: String?) throws {
        guard let file = name ?? Self.systemFiles.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            return nil
        }
        self.file = file
        fingerprints = Set(
            try NIOSSLCertificate.fromPEMFile(file).compactMap { certificate in
                guard let bytes = try? certificate.toDERBytes() else { return nil }
                return SHA256.hash(data: bytes).map { byte in
                    let digits = String(byte, radix: 16)
                    return digits.count == 1 ? "0" + digits : digits
                }.joined()
            }
        )
    }

    package var count: Int { fingerprints.count }

    /// Whether Apple's root is among them.
    package var holdsAppleRoot: Bool { fingerprints.contains(Self.appleRoot) }
}
