import PushCore

extension ImportRow {
    /// The row with its parameters where the application's declarations keep them.
    func placed(by declarations: ApplicationDeclarations) -> ImportRow {
        guard !declarations.parameters.isEmpty else { return self }
        var row = self
        row.parameters = [:]
        for (column, value) in declarations.place(parameters) {
            switch column {
            case .userKey: row.userKey = value
            case .locale: row.locale = value
            case .timeZone: row.timeZone = value
            case .recipient(let name): row.recipient[name] = value
            case .parameter(let name): row.parameters[name] = value
            }
        }
        return row
    }
}
