/// The mobile operating system that an application runs on.
public enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
    case ios
    case android
}

/// Which of a gateway's two worlds an application's push tokens belong to.
///
/// APNs keeps sandbox and production tokens apart; FCM knows production only.
public enum ApplicationEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case sandbox
    case production
}

extension ApplicationEnvironment {
    /// The environment that one of Apple's own gateways serves, by its host.
    ///
    /// Nil for every other host: it may stand in for either, and Google has one gateway for all.
    public init?(gatewayHost: String) {
        switch GatewayHost.comparable(gatewayHost) {
        case "api.push.apple.com", "gateway.push.apple.com": self = .production
        case "api.sandbox.push.apple.com", "api.development.push.apple.com", "gateway.sandbox.push.apple.com":
            self = .sandbox
        default: return nil
        }
    }
}

/// The rules of bundle ids and package names, which go into a header of every request.
public enum BundleID {
    /// Far more than any store takes; Apple's own limit is 155.
    private static let mostBytes = 255

    /// What is wrong with one and what to do; nil if nothing is.
    public static func problem(_ text: String, _ platform: Platform) -> String? {
        let (name, mark, words) =
            switch platform {
            // Apple, "CFBundleIdentifier".
            case .ios: ("bundle id", "-", "hyphens")
            // Google, "Set the application ID".
            case .android: ("package name", "_", "underscores")
            }
        let isRight = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
                true
            default: mark.utf8.first == byte
            }
        }
        guard !isRight || text.isEmpty || text.utf8.count > mostBytes else { return nil }
        return
            "the \(name) is \(text.isEmpty ? "empty" : "none"): give 1 to \(mostBytes) letters, digits, dots and \(words), "
            + "as in com.example.app"
    }
}
