import CPKCS12
import SwiftASN1

/// Reads PKCS#12 files (RFC 7292), the `.p12` files that certificates are exported to, with OpenSSL.
///
/// BoringSSL, which is linked for TLS, could read them too. But in BoringSSL, a file without a key, or with a key that
/// does not match the certificate, ends the process. A file that asks for a hundred million rounds keeps it busy for
/// minutes.
enum PKCS12File {
    /// A certificate with key and chain has 3 to 10 KB.
    static let maxBytes = 65_536
    /// All rounds of all keys of one file together. Exported files have a few thousand each; Windows accepts at most
    /// 600,000.
    static let maxRounds = 2_000_000

    struct Contents {
        var privateKeys: [PEMDocument] = []
        /// Certificates in DER, in the file's order.
        var certificates: [[UInt8]] = []
    }

    /// Why a file cannot be read.
    enum Problem: Error, Equatable {
        /// It is not a PKCS#12 file, or is damaged.
        case malformed
        /// The passphrase is wrong.
        case wrongPassphrase
        /// It is protected by an unsupported algorithm; its object identifier.
        case unsupported(String)
        /// It is encrypted with a cipher of OpenSSL's legacy provider, which is not installed; the cipher's name.
        case noLegacyProvider(String)
        /// Its key derivation has too many rounds: reading it would hang.
        case tooSlow
        /// OpenSSL does not work on this machine.
        case noOpenSSL
    }

    /// Reads a file.
    ///
    /// - Parameter providers: the folder with OpenSSL's provider modules; nil for the one that OpenSSL was built with.
    static func read(_ bytes: [UInt8], passphrase: String, providers: String? = nil) throws(Problem) -> Contents {
        guard bytes.count <= maxBytes else { throw .malformed }
        let passphrase = Array(passphrase.utf8)
        // The buffers have the sizes that the function asks for.
        var pem = [UInt8](repeating: 0, count: 4 * bytes.count)
        var detail = [UInt8](repeating: 0, count: 100)
        var length = 0
        let result = pkcs12_to_pem(
            bytes,
            bytes.count,
            passphrase,
            passphrase.count,
            Int64(maxRounds),
            providers,
            &pem,
            pem.count,
            &length,
            &detail,
            detail.count
        )
        let algorithm = String(decoding: detail.prefix { $0 != 0 }, as: UTF8.self)
        switch result {
        case .read: return try contents(pem: String(decoding: pem.prefix(length), as: UTF8.self))
        case .malformed: throw .malformed
        case .wrongPassphrase: throw .wrongPassphrase
        case .unsupported: throw .unsupported(algorithm)
        case .noLegacyProvider: throw .noLegacyProvider(algorithm)
        case .tooSlow: throw .tooSlow
        case .failed: throw .noOpenSSL
        }
    }

    private static func contents(pem: String) throws(Problem) -> Contents {
        var contents = Contents()
        do {
            for document in try PEMDocument.parseMultiple(pemString: pem) {
                if document.discriminator == "PRIVATE KEY" {
                    let key = PEMDocument(
                        type: document.discriminator,
                        derBytes: try withoutAttributes(document.derBytes)
                    )
                    contents.privateKeys.append(key)
                } else {
                    contents.certificates.append(document.derBytes)
                }
            }
        } catch {
            throw .malformed
        }
        return contents
    }

    /// A PKCS#8 key without the attributes that Keychain Access adds, which not every library accepts.
    private static func withoutAttributes(_ key: [UInt8]) throws -> [UInt8] {
        guard case .constructed(let parts) = try DER.parse(key).content else { throw Problem.malformed }
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { coder in
            // Version, algorithm and key.
            for part in parts.prefix(3) { coder.serializeRawBytes(part.encodedBytes) }
        }
        return serializer.serializedBytes
    }
}
