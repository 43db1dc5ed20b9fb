import Foundation
import Gateways
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// `Config/answers.md` and `pushmta answers` match the table in the code.
@Suite struct AnswersDocumentTests {
    @Test func theDocumentIsMadeOfTheTable() throws {
        let path = ProjectFolder.path + "/Config/answers.md"
        let written = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        #expect(
            written == AnswersDocument.text,
            "Config/answers.md is not what the table says: pushmta answers --markdown > Config/answers.md"
        )
        for row in AnswerTable.rows { #expect(written.contains(row.explanation.replacing("|", with: "\\|"))) }
    }

    @Test func everyRowIsALineOfTheDocument() {
        let lines = AnswersDocument.text.split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| status")
        }
        #expect(lines.count == AnswerTable.rows.count)
        #expect(lines.allSatisfy { $0.replacing("\\|", with: "").count { $0 == "|" } == 11 })
    }

    @Test func gatewayStatusAndReasonTellAllRowsApart() {
        var seen: [String: AnswerRow] = [:]
        for row in AnswerTable.rows {
            let gateway = AnswerListing.gateway(row)
            let other = seen.updateValue(row, forKey: "\(gateway) \(row.status) \(AnswerListing.key(row))")
            #expect(other == nil, "\(row.label) has the key of \(other?.label ?? "")")
            // The gateway's reason is there verbatim.
            if !row.reason.isEmpty { #expect(AnswerListing.key(row).hasPrefix(row.reason)) }
            #expect(AnswerListing.belongs(row, to: row.gateway.rawValue) && AnswerListing.belongs(row, to: gateway))
        }
        let many = AnswerTable.rows.filter { AnswerListing.status($0).hasSuffix("xx") }
        #expect(Set(many.map(\.status)) == [300, 400, 500])
        #expect(many.allSatisfy { AnswerListing.standsForOthers($0) })
        #expect(AnswerListing.gateways.contains("fcm-oauth") && AnswerListing.gateways.contains("apns-http2-goaway"))
    }

    @Test func theCommandPrintsTheTable() async throws {
        let program = try Program.pushmta()
        let rows = try await program.run(["answers", "--json"]).rows()
        #expect(rows.count == AnswerTable.rows.count)
        let classes: Set<String> = [
            "accepted", "unprocessed", "permanent", "retry", "stopApplication", "ambiguous",
        ]
        for (row, line) in zip(AnswerTable.rows, rows) {
            #expect(line["gateway"] as? String == AnswerListing.gateway(row))
            #expect(line["status"] as? Int == Int(row.status))
            #expect(line["reason"] as? String == AnswerListing.key(row))
            #expect(classes.contains(line["class"] as? String ?? ""))
            #expect(line["failureType"] as? String == row.failure?.type.name)
            #expect(line["failureReason"] as? String == row.failure?.reason.name)
            #expect(line["retry"] as? Bool == row.isRetried)
            for key in ["token", "connection", "application"] { #expect(line[key] is String) }
        }
        let document = try await program.run(["answers", "--markdown"])
        #expect(document.status == 0 && document.output == AnswersDocument.text)
        let text = try await program.run(["answers", "--gateway", "apns-http2"])
        #expect(text.output.contains("BadDeviceToken") && !text.output.contains("UNREGISTERED"))
        let part = try await program.run(["answers", "--gateway", "fcm-oauth"])
        #expect(part.output.contains("invalid_grant") && !part.output.contains("UNREGISTERED"))
        #expect(try await program.run(["answers", "--gateway", "x"]).status == 64)
        #expect(try await program.run(["answers", "--json", "--markdown"]).status == 64)
    }
}
