import PushCore

/// A field name that refers to a value inside an object: `order.id` is the entry `id` of the field `order`.
///
/// A field with the whole name, dots included, takes precedence. Columns of a mapping (`mapping.city`) are always such
/// fields: they are never read as objects.
struct FieldPath: Sendable, Hashable {
    /// The field whose value is the object.
    let root: String
    /// The names of the entries, outermost first.
    let names: [String]

    private static let mapping = "mapping."

    /// Nil for a name that is not a path.
    init?(_ name: String) {
        guard name.utf8.contains(UInt8(ascii: ".")), !name.hasPrefix(Self.mapping) else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let root = parts.first, !parts.contains("") else { return nil }
        self.root = root
        names = Array(parts.dropFirst())
    }

    /// The value at this path in the root's value; nil if there is none.
    func value(in root: JSONValue) -> JSONValue? { Self.value(in: root, names[...]) }

    /// The value at this path among the entries of an object; nil if none of them is the root.
    func value(in entries: [JSONEntry]) -> JSONValue?? {
        guard let root = entries.first(where: { $0.name == root }) else { return .none }
        return .some(value(in: root.value))
    }

    private static func value(in value: JSONValue, _ names: ArraySlice<String>) -> JSONValue? {
        guard let first = names.first else { return value }
        guard case .object(let entries) = value else { return nil }
        if names.count > 1 {
            let whole = names.joined(separator: ".")
            if let entry = entries.first(where: { $0.name == whole }) { return entry.value }
        }
        return entries.first { $0.name == first }.flatMap { Self.value(in: $0.value, names.dropFirst()) }
    }

    /// The JSON value of a field whose text is an object or a list; nil for any other text.
    static func parsed(_ text: String) -> JSONValue? {
        guard text.utf8.first == UInt8(ascii: "[") || text.utf8.first == UInt8(ascii: "{") else { return nil }
        return try? JSONParser.parse(Array(text.utf8))
    }
}
