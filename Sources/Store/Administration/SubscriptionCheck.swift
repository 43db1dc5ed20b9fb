import PushCore

/// Tells lines that can be imported from those that cannot.
struct SubscriptionCheck {
    let platform: Platform

    /// Problems that a report keeps.
    private static let kept = 100
    /// APNs says that a device token's length may grow (32 bytes now, 100 at most in its own client); hexadecimal.
    private static let iosLength = 64...200
    /// FCM tokens have about 160 characters today and no promised limit; Firebase advises 4 KiB of room.
    private static let androidLength = 20...4096
    /// A user key is in an index, whose entries are limited to a third of a page.
    private static let longestKey = 1000

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
        if let problem = tokenProblem(row.pushToken) { return problem }
        if row.userKey.utf8.count > Self.longestKey { return "the user key is longer than \(Self.longestKey) bytes" }
        if let problem = formProblem(row) { return problem }
        let texts =
            [row.userKey, row.locale, row.timeZone] + row.recipient.flatMap { [$0.key, $0.value] }
            + row.parameters.flatMap { [$0.key, $0.value] }
        return texts.contains { $0.utf8.contains(0) }
            ? "a value holds the character U+0000, which no database stores" : nil
    }

    /// Locales and time zones as devices write them: fr-CA, zh-Hant-TW, en_US@rg=gbzzzz; Europe/Paris, Etc/GMT+2. Which there are
    /// changes with the years.
    private func formProblem(_ row: ImportRow) -> String? {
        if !row.locale.isEmpty, !Self.isWord(row.locale, marks: "-_@=;.", beginning: Self.isLetter) {
            return "its locale is none: a language, and what belongs to it, as in fr or fr-CA"
        }
        if !row.timeZone.isEmpty, !Self.isWord(row.timeZone, marks: "/_+-", beginning: Self.isLetter) {
            return "its time_zone is none: the name of a zone, as in Europe/Paris"
        }
        return nil
    }

    private static func isWord(_ text: String, marks: String, beginning: (UInt8) -> Bool) -> Bool {
        guard text.utf8.count <= 64, let first = text.utf8.first, beginning(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || marks.utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func isHex(_ bytes: String.UTF8View) -> Bool {
        bytes.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
        }
    }

    private func tokenProblem(_ token: String) -> String? {
        let bytes = token.utf8
        switch platform {
        case .ios:
            return Self.isHex(bytes) && bytes.count % 2 == 0 && Self.iosLength.contains(bytes.count)
                ? nil : "the push token is not an APNs token: 64 hexadecimal digits (found \(bytes.count) characters)"
        case .android:
            if bytes.count >= 64, Self.isHex(bytes) {
                return "the push token is that of an iOS device: hexadecimal digits only"
            }
            return bytes.allSatisfy { (0x21...0x7E).contains($0) } && Self.androidLength.contains(bytes.count)
                ? nil : "the push token is not an FCM token: 20 to 4096 printable characters (found \(bytes.count))"
        }
    }
}
