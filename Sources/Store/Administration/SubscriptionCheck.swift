import PushCore

/// Tells lines that can be imported from those that cannot.
struct SubscriptionCheck {
    let platform: Platform

    /// Problems that a report keeps.
    private static let kept = 100
    /// A user key is in an index, whose entries are limited to a third of a page.
    private static let longestKey = DeviceRegistration.longestKey

    /// The lines that can be imported; the others are reported, or thrown if nothing may be skipped.
    func sound(_ rows: [ImportRow], _ skipMalformed: Bool, _ report: inout ImportReport) throws -> [ImportRow] {
        var sound: [ImportRow] = []
        for var row in rows {
            guard let problem = problem(row) else {
                // Devices and files write hexadecimal in both cases; the gateway takes one token for two otherwise.
                if platform == .ios { row.pushToken = row.pushToken.lowercased() }
                sound.append(row)
                continue
            }
            let found = ImportProblem(line: row.line, problem: problem)
            guard skipMalformed else {
                throw StoreError(
                    .invalid,
                    "Subscription file, \(found).",
                    hint: "mend the line, or skip malformed lines"
                )
            }
            report.skipped += 1
            if report.problems.count < Self.kept { report.problems.append(found) }
        }
        return sound
    }

    private func problem(_ row: ImportRow) -> String? {
        if let problem = PushTokenForm.problem(row.pushToken, platform) { return problem }
        if row.userKey.utf8.count > Self.longestKey { return "the user key is longer than \(Self.longestKey) bytes" }
        if let problem = formProblem(row) { return problem }
        let texts =
            [row.userKey, row.locale, row.timeZone] + row.recipient.flatMap { [$0.key, $0.value] }
            + row.parameters.flatMap { [$0.key, $0.value] }
        return texts.contains { $0.utf8.contains(0) }
            ? "a value holds the character U+0000, which no database stores" : nil
    }

    private func formProblem(_ row: ImportRow) -> String? {
        if let problem = DeviceSetting.problem(locale: row.locale) { return "its locale \(problem)" }
        return DeviceSetting.problem(timeZone: row.timeZone).map { "its time_zone \($0)" }
    }
}
