@testable import Content

extension PayloadTemplate {
    /// Whether every message has the same body, so that many messages can share a request.
    var hasEqualBodies: Bool {
        segments.allSatisfy { segment in
            switch segment {
            case .literal, .validity: true
            case .field, .messageID, .token, .sections, .checked, .path: false
            }
        }
    }
}
