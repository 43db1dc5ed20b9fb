import Administration
import ArgumentParser
import Gateways
import PushCore

struct AnswersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answers",
        abstract: "Show what every response of every gateway means.",
        discussion: """
            One row for each status and reason of each gateway: what it means for the message, the kind of failure in \
            Adobe Campaign's terms, whether the message is tried again, and the effect on the push token, the \
            connection and the application. Rows without a reason are for reasons that are not in the table. Such \
            reasons are kept word for word, and `pushmta delivery status` counts them.
            """
    )

    @Option(
        help:
            "Only the rows of this gateway: apns-http2, apns-binary, fcm-v1 or fcm-legacy; or of a part of one: fcm-oauth."
    )
    var gateway: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the whole table as the document Config/answers.md.")
    var markdown = false

    func validate() throws {
        if let gateway, !AnswerListing.gateways.contains(gateway) {
            let known = AnswerListing.gateways.joined(separator: ", ")
            throw ValidationError("'\(gateway)' is not a gateway; the gateways are \(known).")
        }
        if markdown, json || gateway != nil {
            throw ValidationError("--markdown cannot be combined with other options.")
        }
    }

    func run() async throws {
        if markdown { return StandardOutput.line(AnswersDocument.text.dropLast().description) }
        let rows = AnswerTable.rows.filter { row in gateway.map { AnswerListing.belongs(row, to: $0) } ?? true }
        (json ? AnswerListing.full(rows) : AnswerListing.brief(rows)).show(json: json)
    }
}

/// Rows of the answer table as output.
enum AnswerListing {
    /// All columns, for programs.
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

    /// The columns that fit on a wide screen, for people.
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

    /// The class as in JSON. A refusal that stops its delivery leaves the message unprocessed.
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

    /// What caused the failure; "-" for a success.
    static func fault(_ row: AnswerRow) -> String { row.fault == .none ? "-" : row.fault.rawValue }

    /// The status for people. A round one without a reason stands for its whole hundred.
    static func status(_ row: AnswerRow) -> String {
        guard row.source == .response || row.source == .tokenEndpoint else { return "-" }
        if row.status == 0 {
            if row.reason.isEmpty { return "other" }
            // An error of the token endpoint may come with any status, a response only with its own.
            return row.source == .tokenEndpoint ? "any" : "0"
        }
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

/// Names of rows in JSON, where gateway, status and reason identify each row.
extension AnswerListing {
    /// The name of the gateway. Anything but the response to a message has its own name.
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

    /// Whether a row belongs to a gateway, or to the part of it with this name.
    static func belongs(_ row: AnswerRow, to name: String) -> Bool {
        row.gateway.rawValue == name || gateway(row) == name
    }

    /// The reason; empty for a success, and for all reasons without a row of their own.
    ///
    /// If one status has several rows for other reasons, or a row has a condition, the key is a word of our own.
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
    /// The whole document; it ends with a newline.
    static var text: String {
        let sections = AnswerGateway.allCases.compactMap(section)
        return ([introduction] + sections).joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # What every response of a gateway means

        Generated from the table in the code by `pushmta answers --markdown`; `pushmta answers --json` prints the same
        for programs.

        * **status, reason**: as the gateway gives them. "any other" stands for reasons without a row of their own.
          Such reasons are kept word for word with the message, classified by status, and counted by
          `pushmta delivery status`.
        * **class**: what the response means for the message. *accepted*: the gateway took it. *unprocessed*: the
          gateway did not look at it; it is sent again at once. *permanent*: it will never be accepted, and fails.
          *retry*: it is sent again after a pause; *fault* says how often. *stopApplication*: every message of the
          application would be refused, so all of them stay pending until the cause is fixed. *ambiguous*: the gateway
          may have accepted it; it is sent again or recorded as unknown, as its delivery says.
        * **fault**: what caused the failed attempt. *message*: the message or its token. The attempt counts, and the
          message fails after as many retries as its delivery allows, on its schedule. *gateway*: the response says
          nothing about the message, which keeps its attempts and is sent again until its validity ends. *server*: the
          gateway failed while it processed this message; treated as *gateway*. *foreign*: no gateway gives such a
          response (the page of a proxy, or nothing where JSON should be); treated as *gateway*. *unknown*: the
          gateway's own form with an undocumented reason. If more than ten messages of a delivery get it while others
          get through, that delivery is paused. A message that keeps getting *server*, *foreign* or *unknown* while
          others get through fails at the \(RetryPolicy.maxUnexplainedRefusals)th time; its token is kept.
          *credential*: a credential that is stored with the gateway, and that only some messages need, is wrong. Such
          messages wait, separately for each reason, and one message every five minutes probes whether it was fixed;
          other messages are not affected. *application*: the credential, topic or address is wrong; all messages wait
          until it is fixed. *ambiguous*: each resend is an attempt. A malformed response, a reset stream and a lost
          connection also count as failures of the gateway. If \(TroubleDetector.fewest) of a child's last
          \(TroubleDetector.window) responses, and at least half of them, are failures of the gateway, or per-device
          limits for one device after the other, or if nothing else comes for a second, the application is in
          **trouble** on that account, on all hosts: only a probe is sent every 1 to 5 seconds, until one is accepted.
        * **failure**: type and reason in Adobe Campaign's terms, as the log stores them (`failure_type`,
          `failure_reason`).
        * **token**: *invalid*: the subscription is disabled. *invalid_since_timestamp*: the same, unless the device
          has registered since the time in the response. *replaced*: the subscription gets the token in the response.
          *soft_error*: counts if the message fails. Five of them, more than a day apart, put the subscription into
          quarantine; a message that gets through, or ten days, clear them. `pushmta quarantine undo` reverts all of
          this. If far more tokens are called dead at once than the application has ever lost (at least 20, and a
          fifth of the responses), the messages fail, but the tokens are kept until `pushmta quarantine doubted`
          decides about them. *doubtful*: mixed-up keys or environments would cause this response, too. It fails no
          message and touches no token if more than ten responses, and more than a fifth of the last 500 that a child
          got, are doubtful. For one user and delivery, at most one such response counts. A token that has never
          worked counts only while no message of the application was ever accepted. Later, its message fails as soon
          as others get through, and the response counts as a *soft_error*, whatever the row says. If none gets
          through, the part waits and is judged on its own; if next to nothing of a delivery gets through, the
          delivery is paused.
        * **(suffixed topic)**: the row is for pushes whose type appends a suffix to the bundle id to form the topic
          (`.voip`, `.push-type.liveactivity` and so on). Such types have their own push tokens, so the row never
          affects the subscription's token. If more than ten messages of a delivery are refused in a *doubtful* way,
          and not one gets through, none of them fails and the delivery is paused. If such a row is *unprocessed*, the
          delivery is paused at once: its messages stay pending, and `pushmta delivery resume` resumes it.
        * **connection**: *replace*: it takes no more messages, and a new connection replaces it.
        * **application**: *stop*: see above. *renew_token*: a new provider or access token is created. *pause*: the
          application is in trouble at once, and the first probe follows after the time that the gateway named.
        * **JSON**: `gateway`, `status` and `reason` together identify a row. `status` is a number; `statuses` lists
          what it stands for, as 400 may stand for all 4xx. An empty `reason` means success, or every other reason
          (`otherReasons`). The GOAWAY of a connection has the gateway name `apns-http2-goaway` or `fcm-v1-goaway`,
          the endpoint of access tokens `fcm-oauth`. Words such as `NotSent`, `NoAnswer`, `NotSendable` and those in
          brackets are this program's own.

        The sources are Apple's and Google's documentation and Adobe's table of push error types. Where they disagree,
        the row is the one that loses no token and sends nothing twice.
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
        case .response: "Responses to a message"
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
