/// The mobile operating system that an application runs on.
package enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
    case ios
    case android
}
