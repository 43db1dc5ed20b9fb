/// A complete registration.
struct Registration: Sendable, Equatable, Codable {
    /// The APNs token in lower-case hexadecimal.
    var token: String
    /// The key that links the device to a recipient; empty if the app has none.
    var userKey: String
    /// The document of subscription parameters that is sent.
    var parametersXML: String
    var device: DeviceDescription
    /// The user's opt-out choice: true for out, false for in again, nil for no choice.
    var optOut: Bool?
    /// The user's choices by category, as for everything; nil for none.
    var categories: [String: Bool]?

    /// A copy with other opt-out choices.
    func saying(_ word: Bool?, _ categories: [String: Bool]?) -> Registration {
        var said = self
        said.optOut = word
        said.categories = categories.flatMap { $0.isEmpty ? nil : $0 }
        return said
    }

    /// The categories that the user wants again.
    var categoriesIn: [String] { (categories ?? [:]).filter { !$0.value }.map { $0.key } }

    /// A copy without opt-ins, which are sent only once.
    var settled: Registration { saying(optOut == false ? nil : optOut, categories?.filter { $0.value }) }
}
