/// One problem of a delivery's content.
package struct ContentProblem: Sendable, Hashable, CustomStringConvertible {
    /// The key at fault, for example `ios.title` or `android.variables.url`; empty for the content as a whole.
    package let key: String
    /// What is wrong with it.
    package let cause: String
    /// What to do about it.
    package let remedy: String

    package init(key: String, cause: String, remedy: String) {
        self.key = key
        self.cause = cause
        self.remedy = remedy
    }

    /// The key as a JSON Pointer into the content; empty for the content as a whole.
    package var pointer: String { key.isEmpty ? "" : "/" + key.split(separator: ".").joined(separator: "/") }

    /// The key, cause and remedy on one line.
    package var description: String {
        "\(key.isEmpty ? "content" : key): \(cause); \(remedy)"
    }
}
