/// Identifiers in SQL text.
enum SQLName {
    /// A name in double quotes, those inside it doubled: whatever it holds, it is one identifier.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
