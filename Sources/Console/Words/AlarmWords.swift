import Foundation
import Store

/// An alarm in the words of the console.
///
/// The database's texts are fragments for command lines and monitoring, and its remedies often name commands. People of
/// the console do not have those: where a page has the button, ``remedies`` says so instead.
struct AlarmWords: Sendable {
    let catalogue: Catalogue

    private static let circuit = "circuit_open"
    /// The remedies by the code of the alarm.
    static let remedies: [String: Phrase] = [
        "delivery_paused": .alarmPausedRemedy, "delivery_returned": .alarmReturnedRemedy,
        "delivery_unapproved": .alarmUnapprovedRemedy, "recurrence_paused": .alarmRecurrenceRemedy,
        "account_inactive": .alarmAccountRemedy, "gateway_trouble": .alarmGatewayRemedy,
        "credential_expiry": .alarmCredentialRemedy, "signal_stale": .alarmSignalRemedy,
        "experiment_undecided": .alarmExperimentRemedy, circuit: .alarmCircuitRemedy,
        "credential_refused": .alarmRefusedRemedy, "mass_failure": .alarmFailureRemedy,
    ]
    /// Alarms of this code are also raised by the second delivery of a recall, which nobody edits. Then the database's
    /// remedy begins so.
    static let (returned, recallAgain) = ("delivery_returned", "recall that one again")

    /// What is wrong, in English, with times of the page's zone.
    func text(_ alarm: AlarmRow) -> String { Figures.inZone(alarm.text).asSentence }

    /// What to do, and whether that is in the language of the page; nil if there is nothing.
    func remedy(_ alarm: AlarmRow) -> (words: String, isOwn: Bool)? {
        guard !alarm.remedy.isEmpty else { return nil }
        if alarm.code == Self.returned, alarm.remedy.hasPrefix(Self.recallAgain) {
            return (catalogue[.alarmRecallRemedy], true)
        }
        // A circuit has many causes; only refused tokens have a remedy that is a command.
        if let remedy = Self.remedies[alarm.code], alarm.code != Self.circuit || alarm.remedy.namesCommand {
            return (catalogue[remedy], true)
        }
        return (alarm.remedy.asSentence, false)
    }
}

extension String {
    /// Whether a text of the engine names a command.
    var namesCommand: Bool { contains("pushmta ") }

    /// A text of the engine without its parts that name commands, for people who have the console.
    var withoutCommands: String {
        components(separatedBy: "; ").filter { !$0.namesCommand }.joined(separator: "; ")
    }

    /// A fragment of the engine as a sentence. Names keep their letters, and nothing is added to a command.
    var asSentence: String {
        let first = prefix { $0 != " " }
        let isWord = first != "pushmta" && first.allSatisfy { $0.isLowercase || ",;:'’-".contains($0) }
        let begun = isWord ? capitalisedFirst : self
        guard let last = begun.last, !".!?".contains(last), !namesCommand else { return begun }
        return begun + "."
    }
}
