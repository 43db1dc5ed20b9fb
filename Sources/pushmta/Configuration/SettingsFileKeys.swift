import Foundation
import Yams

/// The keys of a settings file, known or not, each with its parts joined with dots.
struct SettingsFileKeys {
    /// Keys with a value or a list, sorted.
    private(set) var values: [String] = []
    /// Keys whose value is a map without entries, sorted.
    private(set) var emptyMaps: [String] = []

    /// Reads the keys of a YAML text; what is no map of maps has none.
    ///
    /// - Throws: What the parser throws for text that is not YAML.
    init(yaml text: String) throws {
        if let root = try Parser(yaml: text).singleRoot() { collect(root, below: []) }
        values.sort()
        emptyMaps.sort()
    }

    private mutating func collect(_ node: Node, below parts: [String]) {
        guard let mapping = node.mapping else {
            values.append(parts.joined(separator: "."))
            return
        }
        if mapping.isEmpty, !parts.isEmpty { emptyMaps.append(parts.joined(separator: ".")) }
        for (key, value) in mapping { collect(value, below: parts + [key.string ?? "?"]) }
    }
}
