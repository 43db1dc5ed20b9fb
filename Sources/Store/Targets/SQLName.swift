enum SQLName {
    /// A name in double quotes, with quotes inside it doubled, so that any name is a single identifier.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
