/// Which of a gateway's two worlds an application's push tokens belong to.
///
/// APNs keeps sandbox and production tokens apart; FCM knows production only.
public enum ApplicationEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case sandbox
    case production
}
