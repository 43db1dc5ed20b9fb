import PushCore

/// A name that reaches into an object: `order.id` is the entry `id` of the field `order`.
///
/// A field that has the whole name, with its dots, goes before. Columns of a mapping (`mapping.city`) are such fields, and nothing is
/// looked for in them.
struct FieldPath: Sendable, Hashable {
    /// The field that the object is the value of.
    let root: String
    /// The names of entries, from the outside in.
    let names: [String]

    private static let mapping = "mapping."

    /// Nil for a name that reaches into nothing.
    init?(_ name: String) {
        guard name.utf8.contains(UInt8(ascii: ".")), !name.hasPrefix(Self.mapping) else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let root = parts.first, !parts.contains("") else { return nil }
        self.root = root
        names = Array(parts.dropFirst())
    }

    /// What lies there in the root's value; nil if nothing does.
    func value(in root: JSONValue) -> JSONValue? { Self.value(in: root, names[...]) }

    /// What lies there where the entries of an object are at hand; nil if it does not know the root.
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

    /// The value of a field as JSON: what its text is when it is that of an object or a list; nil if it is neither.
    static func parsed(_ text: String) -> JSONValue? {
        guard text.utf8.first == UInt8(ascii: "[") || text.utf8.first == UInt8(ascii: "{") else { return nil }
        return try? JSONParser.parse(Array(text.utf8))
    }
}

/// Where a path's root stands among the columns of a message.
struct FieldPlace: Sendable, Hashable {
    let column: Int
    let path: FieldPath

    /// What lies there in a message; nil if nothing does.
    func value(row: Int, _ columns: [ByteColumn]) -> JSONValue? {
        guard column < columns.count else { return nil }
        return FieldPath.parsed(columns[column].string(row)).flatMap { path.value(in: $0) }
    }
}
