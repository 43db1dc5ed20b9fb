/// What an app wants registered.
struct Registration: Sendable, Equatable, Codable {
    /// The APNs token in lower-case hexadecimal.
    var token: String
    /// The key that matches the device to a recipient; empty when the app has none.
    var userKey: String
    /// The subscription parameters as the document that is sent.
    var parametersXML: String
    var device: DeviceDescription
}
