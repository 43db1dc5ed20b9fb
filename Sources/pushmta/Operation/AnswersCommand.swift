import Administration
import ArgumentParser
import Gateways
import PushCore

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

/// Rows of the answer table as rows of output.
enum AnswerListing {
    /// All that is known of each, for programs.
    static func full(_ rows: [AnswerRow]) -> Table {
        var table = Table([
            "gateway", "status", "reason", "class", "fault", "failureType", "failureReason", "retry", "token",
            "connection",
            "application",
            "statuses", "otherReasons", "source", "condition", "delaySeconds", "doubtful", "explanation",
        ])
        for row in rows {
            table.add([
                .text(gateway(row)), .integer(Int64(row.status)), .text(key(row)),
                .text(name(row.outcomeClass)), .text(fault(row)),
                Cell(row.failure?.type.name), Cell(row.failure?.reason.name), .flag(row.isRetried),
                .text(row.token.rawValue),
                .text(row.connection.rawValue), .text(row.application.rawValue), .text(status(row)),
                .flag(standsForOthers(row)), .text(row.source.rawValue), .text(row.condition),
                Cell(row.delayMilliseconds.map { $0 / 1_000 }), .flag(row.isDoubtful),
                .text(row.explanation),
            ])
        }
        return table
    }

    /// What fits on a wide screen, for people.
    static func brief(_ rows: [AnswerRow]) -> Table {
        var table = Table([
            "gateway", "source", "status", "reason", "class", "fault", "failure", "retry", "token", "connection",
            "application",
        ])
        for row in rows {
            table.add([
                .text(gateway(row)), .text(row.source.rawValue), .text(status(row)), .text(reason(row)),
                .text(name(row.outcomeClass)), .text(fault(row)), .text(failure(row)), .flag(row.isRetried),
                .text(row.token.rawValue),
                .text(row.connection.rawValue), .text(row.application.rawValue),
            ])
        }
        return table
    }

    /// The class as JSON has it. A refusal that stops its delivery leaves the message as it was.
    static func name(_ outcomeClass: OutcomeClass) -> String {
        switch outcomeClass {
        case .unprocessed, .stopDelivery: "unprocessed"
        case .accepted: "accepted"
        case .permanent: "permanent"
        case .retry: "retry"
        case .stopApplication: "stopApplication"
        case .ambiguous: "ambiguous"
        }
    }

    /// Whose failure it is; "-" for a success.
    static func fault(_ row: AnswerRow) -> String { row.fault == .none ? "-" : row.fault.rawValue }

    /// The status for people: one without a reason stands for its hundreds where it is round.
    static func status(_ row: AnswerRow) -> String {
        guard row.source == .response || row.source == .tokenEndpoint else { return "-" }
        if row.gateway == .apnsBinary { return row.reason.isEmpty ? "other" : "\(row.status)" }
        if row.status == 0 { return row.reason.isEmpty ? "other" : "any" }
        let standsForMany = row.reason.isEmpty && row.status % 100 == 0 && row.status != 200
        return standsForMany ? "other \(row.status / 100)xx" : "\(row.status)"
    }

    /// The reason for people, with its condition.
    static func reason(_ row: AnswerRow) -> String {
        let reason = row.reason.isEmpty ? (row.outcomeClass == .accepted ? "" : "any other") : row.reason
        return [reason, row.condition.isEmpty ? "" : "(\(row.condition))"].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Type and reason in one.
    static func failure(_ row: AnswerRow) -> String {
        row.failure.map { "\($0.type.name), \($0.reason.name)" } ?? "-"
    }
}

/// Names of rows in JSON, where gateway, status and reason tell all of them apart.
extension AnswerListing {
    /// The gateway's name: what comes otherwise than as an answer to a message has one of its own.
    static func gateway(_ row: AnswerRow) -> String {
        switch row.source {
        case .goAway: "\(row.gateway.rawValue)-goaway"
        case .tokenEndpoint: "fcm-oauth"
        case .response, .noAnswer, .feedback, .check: row.gateway.rawValue
        }
    }

    static var gateways: [String] {
        AnswerTable.rows.map(gateway).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// Whether a row belongs to a gateway, or to the name that its part of the gateway has.
    static func belongs(_ row: AnswerRow, to name: String) -> Bool {
        row.gateway.rawValue == name || gateway(row) == name
    }

    /// The reason; empty for a success, and where it is every reason that has no row of its own.
    ///
    /// Several rows for every other reason of one status, and rows with a condition, have a word of ours.
    static func key(_ row: AnswerRow) -> String {
        switch (row.source, row.reason, row.condition) {
        case (.noAnswer, "", ""): "NotSent"
        case (.noAnswer, "", _): "NoAnswer"
        case (.check, "", _): "NotSendable"
        case (.response, "", let condition): condition
        case (.response, let reason, let condition) where !condition.isEmpty: "\(reason) (\(condition))"
        case (_, let reason, _): reason
        }
    }

    /// Whether a row stands for all reasons of its status that have no row of their own.
    static func standsForOthers(_ row: AnswerRow) -> Bool {
        row.reason.isEmpty && row.outcomeClass != .accepted
    }
}

/// The answer table as the document `Config/answers.md`.
enum AnswersDocument {
    /// The whole document; it ends with a line end.
    static var text: String {
        let sections = AnswerGateway.allCases.compactMap(section)
        return ([introduction] + sections).joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # What every answer of a gateway means

        Made of the table in the code by `pushmta answers --markdown`; `pushmta answers --json` has the same for programs.

        * **status, reason**: as the gateway gives them. "any other" stands for reasons that have no row of their own: they are kept word
          for word with the message, classed by status, and counted by `pushmta delivery status`.
        * **class**: what it means for the message. *accepted*: it was taken. *unprocessed*: it was not looked at and is sent again at once.
          *permanent*: it will never be taken, and fails. *retry*: it is sent again after a pause; how often, *fault* says. *stopApplication*: every message of the application would be refused, so all of them stay pending until it is put right.
          *ambiguous*: it may have been taken; it is sent again, or reported as unknown, as its delivery says.
        * **fault**: whose failure the attempt was. *message*: the message's or its token's: the attempt counts, and with as many retries as
          its delivery says, by its schedule, the message fails. *gateway*: it says nothing about the message, which keeps its attempts and
          is sent again until its validity is over. *server*: the gateway failed over this message: as *gateway*. *foreign*: no gateway gives such
          an answer (a page of a proxy, nothing where JSON should be): as *gateway*. *unknown*: the gateway's own form with an undocumented
          reason: when more than ten messages of a delivery get it while others pass, that delivery is paused. A message that keeps
          getting *server*, *foreign* or *unknown* while others pass fails at the \(RetryPolicy.maximumUnexplainedRefusals)th time; its token is kept. *credential*: one that is stored
          with the gateway and that only some messages need is wrong: they wait apart, by reason, one message every five minutes finds out
          whether it was put right, and others go on. *application*: credential, topic or address: all messages wait until it is put right.
          *ambiguous*: each resend is an attempt; a malformed answer, a reset stream and a lost connection are the gateway's failures besides.
          When \(TroubleDetector.fewest) of a child's last \(TroubleDetector.window) answers and at least half of them are failures of the gateway's, or are a limit of the
          device for one device after the other, or when for a second nothing else comes, the application is in **trouble** on that
          account, on all hosts: nothing is sent but a probe every 1 to 5 seconds until one is taken.
        * **failure**: type and reason in Adobe Campaign's words, as the log keeps them (`failure_type`, `failure_reason`).
        * **token**: *invalid*: the subscription is disabled. *invalid_since_timestamp*: the same, unless the device has registered since the
          time in the answer. *replaced*: it gets the token in the answer. *soft_error*: if the message fails, it counts; five of them, more
          than a day apart, put the subscription into quarantine, and a message that gets through or ten days heal. All of it can be taken
          back with `pushmta quarantine undo`. When far more tokens are called dead at once than the application has ever lost (20 at
          least, and a fifth of the answers), the messages fail and the tokens wait: `pushmta quarantine doubted` decides. What a mix-up of keys or environments would cause as well (*doubtful*) fails no message and
          touches no token when more than ten answers, and more than a fifth of the last 500 that a child got, are so. Of one user and
          delivery one such answer counts at most. A token that never worked counts only while no message of the application was ever taken;
          later its message fails as soon as others get through, and the answer counts as a *soft_error*, whatever the row says. Where none
          gets through the part waits and is judged by itself; where next to nothing of a delivery does, the delivery is paused.
        * **(suffixed topic)**: the row is for pushes whose type adds to the bundle id to make the topic (`.voip`, `.push-type.liveactivity`
          and so on). Such types have push tokens of their own, so that nothing of it touches the subscription's token. When more than ten
          of a delivery's messages are refused in a *doubtful* way, and not one gets through, none of them fails and it is paused;
          where such a row is *unprocessed*, it is paused at once: its messages stay pending, and `pushmta delivery resume` lets it go on.
        * **connection**: *replace*: it takes no more messages, and another one takes its place.
        * **application**: *stop*: see above. *renew_token*: a new provider or access token is made. *pause*: the
          application is in trouble at once, and the first probe comes after the time that the gateway named.
        * **JSON**: `gateway`, `status` and `reason` tell all rows apart. `status` is a number; `statuses` says for which it stands, as 400
          may stand for all 4xx. An empty `reason` is a success, or every other reason (`otherReasons`). What a connection's GOAWAY says
          has the gateway name `apns-http2-goaway` or `fcm-v1-goaway`, the endpoint of access tokens `fcm-oauth`; words such as `NotSent`,
          `NoAnswer`, `NotSendable` and those in brackets are this program's.

        Sources are Apple's and Google's documents and Adobe's table of push error types. Where they disagree, the row is the one that loses
        no token and sends nothing twice.
        """

    private static func section(_ gateway: AnswerGateway) -> String? {
        let rows = AnswerTable.rows.filter { $0.gateway == gateway }
        guard !rows.isEmpty else { return nil }
        let parts = AnswerRow.Source.allCases.compactMap { source in
            part(title(source), rows.filter { $0.source == source })
        }
        return (["## \(gateway.rawValue)"] + parts).joined(separator: "\n\n")
    }

    private static func part(_ title: String, _ rows: [AnswerRow]) -> String? {
        guard !rows.isEmpty else { return nil }
        let head = [
            "### \(title)", "",
            "| status | reason | class | fault | failure | retry | token | connection | application | meaning |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        return (head + rows.map(line)).joined(separator: "\n")
    }

    private static func title(_ source: AnswerRow.Source) -> String {
        switch source {
        case .response: "Answers to a message"
        case .goAway: "GOAWAY of a connection"
        case .noAnswer: "No answer"
        case .feedback: "Feedback service"
        case .tokenEndpoint: "Endpoint of access tokens"
        case .check: "Found before anything is sent"
        }
    }

    private static func line(_ row: AnswerRow) -> String {
        let token = row.isDoubtful ? "\(row.token.rawValue), doubtful" : row.token.rawValue
        let delay = row.delayMilliseconds.map { $0 > 0 ? "yes, after \($0 / 1_000) s" : "yes, at once" }
        let cells = [
            AnswerListing.status(row), AnswerListing.reason(row), AnswerListing.name(row.outcomeClass),
            AnswerListing.fault(row), AnswerListing.failure(row),
            delay ?? (row.isRetried ? "yes" : "no"), token, row.connection.rawValue, row.application.rawValue,
            row.explanation,
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
