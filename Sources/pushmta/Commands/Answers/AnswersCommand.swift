import ArgumentParser
import Gateways

/// `pushmta answers`.
struct AnswersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answers",
        abstract: "Show what every answer of every gateway means.",
        discussion: """
            A row for each status and reason of each gateway: what it means for the message, in Adobe Campaign's terms what kind of \
            failure it is, whether the message is tried again, and what it does to the push token, the connection and the application. \
            Rows without a reason are for reasons that are not in the table; these are kept word for word, and `pushmta delivery \
            status` counts them.
            """
    )

    @Option(
        help: "Only the rows of this gateway: apns-http2, apns-binary, fcm-v1 or fcm-legacy; or of a part: fcm-oauth."
    )
    var gateway: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the whole table as the document Config/answers.md.")
    var markdown = false

    func validate() throws {
        if let gateway, !AnswerListing.gateways.contains(gateway) {
            let known = AnswerListing.gateways.joined(separator: ", ")
            throw ValidationError("'\(gateway)' is no gateway; there are \(known).")
        }
        if markdown, json || gateway != nil { throw ValidationError("--markdown goes with no other option.") }
    }

    func run() async throws {
        if markdown { return StandardOutput.line(AnswersDocument.text.dropLast().description) }
        let rows = AnswerTable.rows.filter { row in gateway.map { AnswerListing.belongs(row, to: $0) } ?? true }
        (json ? AnswerListing.full(rows) : AnswerListing.brief(rows)).show(json: json)
    }
}
