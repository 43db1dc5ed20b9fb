import HTTPTypes
import PushCore
import Store

/// The outcomes of a delivery as comma-separated values (RFC 4180), written while they are read.
struct OutcomesCSV: Sendable {
    let responder: ConsoleResponder

    static let path = "/deliveries/{id}/outcomes.csv"

    /// The message numbers read at once: some 50 milliseconds and a megabyte.
    static let step: Int32 = 5_000
    /// The message numbers read first: the download begins at once.
    static let firstStep: Int32 = 500

    static let columns = [
        "message", "subscription_id", "application", "status", "reason", "failure_type", "failure_reason",
        "http_status", "gateway_message_id", "attempt", "logged_at", "received", "clicked",
    ]

    var routes: [ConsoleRoute] {
        [
            // A POST, because the download is recorded: neither another site nor a browser that prefetches pages can
            // make it in a user's name.
            ConsoleRoute(.post, Self.path, .role(.operate)) { call in
                let id = try call.number("id")
                let highest = try await responder.database.runDownload {
                    try await $0.beginOutcomes(ofDelivery: id, by: call.actor)
                }
                return .download(name: "delivery-\(id)-outcomes.csv", type: "text/csv") { send in
                    try await Self.write(
                        through: highest,
                        send,
                        next: { number in
                            try await responder.database.runDownload {
                                try await $0.nextNumber(ofDelivery: id, from: number, by: call.actor)
                            }
                        },
                        read: { numbers in
                            try await responder.database.runDownload {
                                try await $0.outcomes(ofDelivery: id, numbers: numbers, by: call.actor)
                            }
                        }
                    )
                }
            }
        ]
    }

    /// Writes all messages up to a number. It waits for a slow reader, and throws when the reader has gone.
    ///
    /// - Parameter next: the lowest number of a message from a number on; nil if there is none. It is asked after an empty
    ///   range, because the numbers of an experiment have large gaps.
    static func write(
        through highest: Int32,
        _ send: (String) async throws -> Void,
        next: (Int32) async throws -> Int32?,
        read: (ClosedRange<Int32>) async throws -> [DeliveryOutcome]
    ) async throws {
        try await send(line(columns))
        var lowest: Int32 = 1
        var step = firstStep
        while lowest <= highest {
            try Task.checkCancellation()
            let last = highest - lowest < step ? highest : lowest + step - 1
            let rows = try await read(lowest...last)
            if !rows.isEmpty { try await send(rows.map { line(cells($0)) }.joined()) }
            guard last < highest else { return }
            lowest = last + 1
            step = Self.step
            guard rows.isEmpty else { continue }
            guard let number = try await next(lowest) else { return }
            lowest = max(lowest, number)
        }
    }

    private static func cells(_ outcome: DeliveryOutcome) -> [String] {
        let row = outcome.row
        return [
            "\(row.sequence)", "\(row.subscriptionID)", outcome.application, row.status, row.reason,
            row.failureType ?? "", row.failureReason ?? "", row.httpStatus == 0 ? "" : "\(row.httpStatus)",
            row.gatewayMessageID ?? "", "\(row.attempt)", row.loggedAt?.internetText ?? "",
            row.isReceived ? "true" : "false", row.isClicked ? "true" : "false",
        ]
    }

    static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// A cell. Spreadsheets treat text with one of these first characters as a formula, which could leak the sheet.
    /// An apostrophe in front makes it text.
    private static func cell(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
        let safe = isFormula ? "'" + text : text
        guard safe.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return safe }
        // By scalars: a combining mark would hide a quotation mark.
        let quoted = safe.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar == "\"" { shown.unicodeScalars.append(scalar) }
            shown.unicodeScalars.append(scalar)
        }
        return "\"" + quoted + "\""
    }
}
