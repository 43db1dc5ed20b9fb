extension ContentValidator {
    /// PostgreSQL's texts and jsonb have no U+0000 ("JSON Types").
    static let unstorable: Character = "\u{0}"

    /// Checks that the database can store every name and every text.
    mutating func checkStorable(_ value: JSONValue, _ path: String?) {
        switch value {
        case .string(let text):
            if Self.isUnstorable(text) { addUnstorable(path ?? "") }
        case .array(let elements):
            for element in elements { checkStorable(element, path) }
        case .object(let entries):
            for entry in entries {
                let isBad = Self.isUnstorable(entry.name)
                let path = Self.path(path, isBad ? entry.name.filter { !Self.isUnstorable(String($0)) } : entry.name)
                if isBad { addUnstorable(path) }
                checkStorable(entry.value, path)
            }
        case .null, .boolean, .number: break
        }
    }

    private static func isUnstorable(_ text: String) -> Bool { text.utf8.contains(0) }

    private mutating func addUnstorable(_ path: String) {
        add(path, "it has \\u0000 or half a surrogate pair in it, which the database cannot store", "leave it out")
    }
}
