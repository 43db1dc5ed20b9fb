/// The known paths, as the access log names them.
enum WebPlace: Sendable, Hashable {
    case tracking, registerIOS, registerAndroid, test, live, ready
    /// A path below `/api/`, which the router resolves.
    case api

    init?(_ path: Substring) {
        switch path {
        case "/r/", "/r": self = .tracking
        case "/nms/mobile/1/registerIOS.jssp": self = .registerIOS
        case "/nms/mobile/1/registerAndroid.jssp": self = .registerAndroid
        case "/r/test", "/r/test/": self = .test
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default:
            guard path.hasPrefix("/api/") else { return nil }
            self = .api
        }
    }

    /// Its name in metrics.
    var name: String {
        switch self {
        case .tracking: "tracking"
        case .registerIOS: "register_ios"
        case .registerAndroid: "register_android"
        case .test: "test"
        case .live, .ready: "health"
        case .api: "api"
        }
    }

    /// The path, without the client's values.
    var path: String {
        switch self {
        case .tracking: "/r/"
        case .registerIOS: "/nms/mobile/1/registerIOS.jssp"
        case .registerAndroid: "/nms/mobile/1/registerAndroid.jssp"
        case .test: "/r/test"
        case .live: "/health/live"
        case .ready: "/health/ready"
        case .api: "/api/"
        }
    }
}
