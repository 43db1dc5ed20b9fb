import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A `.p12` file and its passphrase as they are sealed together: one without the other is of no use.
public struct SealedCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    private struct Fields: Codable {
        var pkcs12: Data
        var passphrase: String
    }

    /// The file.
    public let pkcs12: [UInt8]
    /// Its passphrase, "" for none.
    public let passphrase: String

    /// Puts both together.
    public init(pkcs12: [UInt8], passphrase: String) {
        self.pkcs12 = pkcs12
        self.passphrase = passphrase
    }

    /// Takes both out of the material that was sealed.
    public init(material: [UInt8]) throws(GatewayCredentialError) {
        guard let fields = try? JSONBody.decode(Fields.self, from: material) else {
            throw ClientCertificate.error(.malformed, "it is stored in a form that is not known here: set it again")
        }
        self.init(pkcs12: Array(fields.pkcs12), passphrase: fields.passphrase)
    }

    /// The material to seal: a JSON object with the file in base64 and the passphrase.
    public var material: [UInt8] {
        // Data and text are always JSON, so that this cannot fail.
        (try? JSONEncoder().encode(Fields(pkcs12: Data(pkcs12), passphrase: passphrase))).map(Array.init) ?? []
    }

    /// Nothing of both.
    public var description: String { "APNs certificate" }

    /// Nothing of both.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
