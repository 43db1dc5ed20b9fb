/// Reads the plain text form of a legacy request: `registration_id=…&data.key=value`.
enum FCMLegacyFormReader {
    /// Reads a body; a form can hardly be malformed, its values can.
    static func read(_ body: [UInt8]) -> FCMLegacyMessage {
        var message = FCMLegacyMessage()
        message.isForm = true
        for (name, value) in FormFields.decode(body) {
            switch name {
            case "registration_id": if !value.isEmpty { message.addTarget(Array(value.utf8)) }
            case "dry_run": message.isDryRun = value == "true" || value == "1"
            case "time_to_live":
                if !(Int(value).map { (0...FCMLegacyMessage.longestTTL).contains($0) } ?? false) {
                    message.note(.invalidTTL)
                }
            case _ where name.hasPrefix("data."):
                message.addData(name: Array(name.utf8.dropFirst(5)), value: Array(value.utf8))
            default: break
            }
        }
        message.finish()
        return message
    }
}
