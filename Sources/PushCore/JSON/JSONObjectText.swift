/// Writes JSON objects whose values are all texts.
public enum JSONObjectText {
    /// The object with its members in the order of their names; nil for no members.
    public static func write(_ values: [String: String]) -> String? {
        guard !values.isEmpty else { return nil }
        var output: [UInt8] = [UInt8(ascii: "{")]
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            JSONText.appendString(name, to: &output)
            output.append(UInt8(ascii: ":"))
            JSONText.appendString(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
        return String(decoding: output, as: UTF8.self)
    }

    /// A text as a JSON string with its quotes.
    public static func quoted(_ text: String) -> String {
        var output: [UInt8] = []
        JSONText.appendString(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}
