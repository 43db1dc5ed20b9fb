/// How statements read a mapping's view.
extension TargetMapping {
    /// Rows of alias `m` whose key is a user key: written so that an index of the key column serves, whatever its type.
    func keyCondition(userKey: String) -> String {
        let key = "m." + SQLName.quoted(keyColumn.name)
        return switch keyColumn.baseType {
        case "text", "character varying", "citext", "name": "\(key) = \(userKey)"
        // As the number is written: 007 is not 7.
        case "smallint", "integer", "bigint":
            "\(key) = CASE WHEN \(userKey) ~ '^(0|-?[1-9][0-9]{0,17})$' THEN \(userKey)::bigint END"
        case "uuid":
            "\(key) = CASE WHEN \(userKey) ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN \(userKey)::uuid END"
        default: "\(key)::text = \(userKey)"
        }
    }

    /// A join that adds alias `m` with these columns as texts under their own names, all null if the user key has no row. Of
    /// several rows of a key any one counts.
    ///
    /// - Parameter userKey: the user key as the statement has it, for example `s.user_key`.
    func lateralJoin(columns: [String], userKey: String) throws -> String {
        let list = try columns.map { name in
            let quoted = SQLName.quoted(try column(name).name)
            return "m.\(quoted)::text AS \(quoted)"
        }
        return """
            LEFT JOIN LATERAL (SELECT \(list.joined(separator: ", ")) FROM \(view) m
                WHERE \(userKey) <> '' AND \(keyCondition(userKey: userKey)) LIMIT 1) m ON true
            """
    }
}
