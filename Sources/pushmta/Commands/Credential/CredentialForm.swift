import PushCore

/// What a credential's file looks like.
enum CredentialForm: Sendable {
    /// A private key in PEM: Apple's .p8 file.
    case apnsKey
    /// PKCS#12: a certificate with its key.
    case certificate
    /// A JSON object: Google's service account.
    case serviceAccount
    /// One word: FCM's project key.
    case projectKey
    /// A certificate in PEM, which lacks the key or is in a form that nobody delivers.
    case bareCertificate
    /// Anything else.
    case unknown

    init(_ bytes: [UInt8]) {
        // DER and BER: a SEQUENCE.
        if bytes.first == 0x30, bytes.count > 1, bytes[1] >= 0x80 || Int(bytes[1]) == bytes.count - 2 {
            self = .certificate
            return
        }
        let text = String(decoding: bytes.prefix(65_536), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        if words.first?.hasPrefix("{") == true {
            self = .serviceAccount
        } else if text.contains("BEGIN CERTIFICATE") {
            self = .bareCertificate
        } else if text.contains("-----BEGIN ") {
            self = .apnsKey
        } else if words.count == 1, words[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            self = .projectKey
        } else {
            self = .unknown
        }
    }

    /// What it is, for people.
    var text: String {
        switch self {
        case .apnsKey: "an APNs key"
        case .certificate: "a certificate (PKCS#12)"
        case .serviceAccount: "a JSON file, as that of a service account"
        case .projectKey: "a single word, as a project key of FCM"
        case .bareCertificate: "a certificate in PEM"
        case .unknown: "of no form that a credential has"
        }
    }

    /// The platform that takes it; nil for none.
    var platform: Platform? {
        switch self {
        case .apnsKey, .certificate: .ios
        case .serviceAccount, .projectKey: .android
        case .bareCertificate, .unknown: nil
        }
    }

    /// What a platform takes, for people.
    static func wanted(_ platform: Platform) -> String {
        switch platform {
        case .ios: "Apple's key (.p8) or a certificate with its private key (.p12)"
        case .android: "Google's service account (JSON file) or a file with FCM's project key"
        }
    }
}
