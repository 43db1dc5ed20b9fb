/// What the check of filters in the database takes from here: fields, their kinds, and limits. Its grammar is ``TargetFilterParser``'s.
extension TargetFilter {
    /// The rules, a JSON object.
    public static let rules = JSONText.compact(
        object([
            ("bytes", number(maximumBytes)), ("depth", number(maximumDepth)), ("tests", number(maximumTests)),
            ("values", number(maximumListLength)), ("digits", number(TargetFilterLexer.maximumDigits)),
            ("furthest", number(TargetFilterParser.furthestSeconds)),
            ("units", object(TargetFilterParser.units.sorted { $0.key < $1.key }.map { ($0.key, number($0.value)) })),
            (
                "groups",
                object(
                    TargetField.groups.map { group in
                        (group, TargetField.named(group, "")?.kind.map { .string($0.rawValue) } ?? .null)
                    }
                )
            ), ("columns", object(TargetColumn.allCases.map { ($0.rawValue, column($0)) })),
        ])
    )

    private static func column(_ column: TargetColumn) -> JSONValue {
        object(
            [("kind", .string(column.kind.rawValue))]
                + (column.words.map { [("words", .array($0.map(JSONValue.string)))] } ?? [])
        )
    }

    private static func object(_ entries: [(String, JSONValue)]) -> JSONValue {
        .object(entries.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    private static func number(_ number: some BinaryInteger) -> JSONValue { .number(String(number)) }
}
