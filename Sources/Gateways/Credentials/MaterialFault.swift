#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Recognises what users supply by mistake instead of a credential, with a sentence for each: what it is, and what to
/// do. No sentence shows any of the material.
package enum MaterialFault {
    private static let begin = "-----BEGIN "
    private static let cutOff = "it is cut off: the line with END is missing"

    /// What is wrong with a text that should hold a private key in PEM; nil if it does hold blocks.
    package static func text(_ bytes: [UInt8]) -> String? {
        let bytes = ByteOrderMark.dropped(bytes)
        if let form = binary(bytes) { return form }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains(begin) {
            if text.contains("\\n") {
                return
                    "its line breaks are written as \\n, as in JSON or an environment variable: replace them with real line breaks"
            }
            if text.filter(\.isNewline).count < 2 {
                return text.contains("-----END ")
                    ? "its line breaks are lost: BEGIN, base64 and END must be on separate lines" : cutOff
            }
            return PEMFile(bytes).blocks.isEmpty ? cutOff : nil
        }
        guard let inner = base64(text) else { return nil }
        if String(decoding: inner.prefix(200), as: UTF8.self).contains(begin) {
            return
                "it is encoded in base64 again, as build systems keep such files: decode it first, with base64 -d FILE"
        }
        guard inner.first == 0x30 else { return nil }
        return "its lines BEGIN and END are missing: give the whole file"
    }

    /// What is wrong with a file that should hold a certificate and its key; nil if it is a damaged PKCS#12 file.
    static func certificate(_ bytes: [UInt8]) -> String? {
        if case .pkcs12 = KeyForm(der: bytes) { return nil }
        return text(bytes)
    }

    /// What is wrong with bytes that are not text.
    private static func binary(_ bytes: [UInt8]) -> String? {
        guard bytes.first == 0x30 else { return nil }
        switch KeyForm(der: bytes) {
        case .p256, .otherCurve, .rsa, .other:
            return "it is a key in DER: convert it with openssl pkey -inform DER -in FILE -out FILE.pem"
        case .encrypted:
            return
                "it is a key in DER with a passphrase: convert it with openssl pkcs8 -inform DER -in FILE -out FILE.pem"
        case .publicKey: return "it is a public key in DER; the private key is needed"
        case .certificate:
            return
                "it is a certificate in DER without its private key, as downloaded from Apple: export certificate and key together as .p12"
        case .pkcs12: return "it is a PKCS#12 file (.p12)"
        case .unknown: return nil
        }
    }

    /// What is wrong with the private key that a PEM file holds; nil if it has one that is not encrypted.
    static func key(_ file: PEMFile) -> String? {
        if let block = file.blocks.first(where: \.isPrivateKey) {
            guard block.isEncrypted || block.label.hasPrefix("ENCRYPTED") else {
                return block.der.isEmpty ? "the text between BEGIN and END is not base64: copy the file again" : nil
            }
            return "it is protected by a passphrase: remove it with openssl pkey -in FILE -out FILE.pem"
        }
        if file.blocks.contains(where: { $0.label.hasSuffix("PUBLIC KEY") }) {
            return "it is a public key; the private key is needed"
        }
        if file.blocks.contains(where: \.isCertificate) { return "it is a certificate without its private key" }
        return "it holds no private key (\"-----BEGIN PRIVATE KEY-----\")"
    }

    /// What is wrong with a JSON text that is not a service account; nil if it is an object that may be one.
    package static func json(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: ByteOrderMark.dropped(bytes), as: UTF8.self)
        let words = text.drop(while: \.isWhitespace)
        switch words.first {
        case "{":
            if text.contains("\"project_info\""), text.contains("\"client\"") {
                return
                    "it is google-services.json, which is built into apps: create a service account key in the Firebase console (project settings, service accounts)"
            }
            if text.contains("\"apiKey\""), text.contains("\"messagingSenderId\"") {
                return "it is the configuration of a web app: create a service account key in the Firebase console"
            }
            if text.contains("\"installed\""), text.contains("\"client_secret\"") || text.contains("\"auth_uri\"") {
                return "it is an OAuth client's: create a service account key in the Firebase console"
            }
            return nil
        case "[": return "it is a list (\"[\"): give only the object in it, from { to }"
        case "\"":
            return "it is JSON inside a string, with quotation marks around it: give the JSON alone, from { to }"
        case "<":
            return "it is XML, as GoogleService-Info.plist is: create a service account key in the Firebase console"
        default:
            guard let inner = base64(text),
                String(decoding: inner.prefix(200), as: UTF8.self).drop(while: \.isWhitespace).first == "{"
            else { return nil }
            return
                "it is encoded in base64 again, as build systems keep such files: decode it first, with base64 -d FILE"
        }
    }

    /// The text decoded from base64; nil if it is not base64.
    private static func base64(_ text: String) -> Data? {
        let letters = text.filter { !$0.isWhitespace }
        // The shortest key is longer than this; a word of this length may be anything.
        guard letters.utf8.count >= 80 else { return nil }
        return Data(base64Encoded: letters)
    }
}
