import PushCore
import Store

/// A requested page of a list that is ordered by name.
struct NamePage: Sendable {
    let after: String
    let limit: Int32

    private static let usual: Int32 = 20
    private static let maximum: Int32 = 100

    static let details = "Pass `next` of one page as `after` of the following one."
    static let parameters = [
        APIRoute.Parameter.query(
            "after",
            APIText.nameCursor.schema(mayBeEmpty: false),
            "Only those after this name."
        ),
        .query(
            "limit",
            #"{"type": "integer", "minimum": 1, "maximum": \#(maximum), "default": \#(usual)}"#,
            "Page size."
        ),
    ]

    init(_ call: APICall) throws(APIProblem) {
        var query = call.query
        // A character has at most four bytes.
        let after = query.text("after", as: .nameCursor) ?? ""
        if after.unicodeScalars.count > APIText.nameCursor.maxLength {
            query.note("after", "at most \(APIText.nameCursor.maxLength) characters are allowed")
        }
        limit = query.integer("limit", 1...Self.maximum) ?? Self.usual
        self.after = after
        try query.close()
    }

    /// The JSON of a page.
    func json<Row>(_ name: String, _ rows: [Row], next: KeyPath<Row, String>, _ json: (Row) -> JSONValue) -> JSONValue {
        let last = rows.count == Int(limit) ? rows.last?[keyPath: next] : nil
        return .members((name, .array(rows.map(json))), ("next", .text(last)))
    }
}
