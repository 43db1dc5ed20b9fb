import Mustache

/// What a template shows, by name. Everything but drawings is escaped when it is shown.
typealias PageValues = [String: PageValue]

extension PageValues {
    /// The values in swift-mustache's form.
    var rendered: [String: Any] { mapValues(\.rendered) }
}
