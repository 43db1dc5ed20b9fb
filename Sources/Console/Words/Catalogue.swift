import PushCore
import Store

/// The texts of one language.
struct Catalogue: Sendable {
    let language: Language
    /// The texts by name, as templates use them.
    let texts: [String: String]

    private static let all = Dictionary(uniqueKeysWithValues: Language.allCases.map { ($0, Catalogue($0)) })
    static let english = Catalogue(.english)

    /// The catalogue of the page that is being rendered.
    static var current: Catalogue { all[Language.current] ?? english }

    private init(_ language: Language) {
        self.language = language
        // Tests check that every language has every text; if one were missing, English is better than nothing.
        var texts = Language.english.texts.merging(language.texts) { _, own in own }
        texts["language"] = language.rawValue
        self.texts = texts
    }

    /// A text without values.
    subscript(_ phrase: Phrase) -> String { texts[phrase.rawValue] ?? phrase.rawValue }

    /// A word that the code writes in English, such as the unit of a setting; in English if there is no translation.
    func word(_ english: String) -> String { texts[english] ?? english }

    /// A text with values in place of `{0}`, `{1}` and so on.
    func text(_ phrase: Phrase, _ values: String...) -> String { filled(self[phrase], values) }

    /// The same, in the plural form for a number.
    func text(_ phrase: Phrase, count: Int64, _ values: String...) -> String {
        filled(texts["\(phrase.rawValue).\(language.form(count).rawValue)"] ?? phrase.rawValue, values)
    }

    private func filled(_ text: String, _ values: [String]) -> String {
        var rest = text[...]
        var shown = ""
        // From left to right, so that a value is never searched for placeholders.
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            shown += rest[..<open]
            let place = Int(rest[rest.index(after: open)..<close]) ?? values.count
            shown += values.indices.contains(place) ? values[place] : String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return shown + rest
    }
}

extension Catalogue {
    func role(_ role: ConsoleRole) -> String {
        switch role {
        case .read: self[.roleRead]
        case .marketing: self[.roleMarketing]
        case .operate: self[.roleOperate]
        case .admin: self[.roleAdmin]
        }
    }

    func state(_ state: DeliveryState) -> String {
        switch state {
        case .editing: self[.stateEditing]
        case .analysing: self[.stateAnalysing]
        case .ready: self[.stateReady]
        case .pending: self[.statePending]
        case .preparing: self[.statePreparing]
        case .inProgress: self[.stateInProgress]
        case .paused: self[.statePaused]
        case .finished: self[.stateFinished]
        case .stopped: self[.stateStopped]
        case .recalled: self[.stateRecalled]
        }
    }

    /// The outcome of a message, from the database's name for it.
    func status(_ name: String) -> String {
        switch name {
        case "sent": self[.outcomeSent]
        case "failed": self[.outcomeFailed]
        case "pending": self[.outcomePending]
        case "ignored": self[.outcomeIgnored]
        case "not_applicable": self[.outcomeNotApplicable]
        case "canceled": self[.outcomeCanceled]
        case "unknown": self[.outcomeUnknown]
        default: name
        }
    }

    /// The outcome after a number of messages, with which it agrees in some languages.
    func counted(_ status: MessageStatus, _ count: Int64) -> String {
        switch status {
        case .sent: text(.countedSent, count: count)
        case .ignored: text(.countedIgnored, count: count)
        case .canceled: text(.countedCanceled, count: count)
        case .unknown: text(.countedUnknown, count: count)
        case .failed, .pending, .notApplicable: self.status(status.name)
        }
    }

    func meaning(_ status: MessageStatus) -> String {
        switch status {
        case .sent: self[.outcomeSentMeaning]
        case .failed: self[.outcomeFailedMeaning]
        case .pending: self[.outcomePendingMeaning]
        case .ignored: self[.outcomeIgnoredMeaning]
        case .notApplicable: self[.outcomeNotApplicableMeaning]
        case .canceled: self[.outcomeCanceledMeaning]
        case .unknown: self[.outcomeUnknownMeaning]
        }
    }

    /// The meaning of one of the product's own reasons; nil for those of gateways.
    func reason(_ reason: String) -> String? {
        let phrase: Phrase? =
            switch reason {
            case "disabled": .reasonDisabled
            case "opted_out": .reasonOptedOut
            case "category_opted_out": .reasonCategoryOptedOut
            case "quarantine": .reasonQuarantine
            case "duplicate": .reasonDuplicate
            case "unknown_subscription": .reasonUnknownSubscription
            case "exclusion_list": .reasonExclusionList
            case "condition_failed": .reasonConditionFailed
            case "frequency_cap": .reasonFrequencyCap
            case "control_group": .reasonControlGroup
            case "hold_out": .reasonHoldOut
            case "seed": .reasonSeed
            case "expired": .reasonExpired
            case "stopped": .reasonStopped
            case "local_time_over": .reasonLocalTimeOver
            case "outside_hours": .reasonOutsideHours
            case "recalled": .reasonRecalled
            default: nil
            }
        return phrase.map { self[$0] }
    }

    func health(_ health: String) -> String {
        switch health {
        case "alive": self[.healthAlive]
        case "late": self[.healthLate]
        case "gone": self[.healthGone]
        case "stopped": self[.healthStopped]
        default: health
        }
    }

    func childState(_ state: ChildOverview.State) -> String {
        switch state {
        case .starting: self[.childStarting]
        case .idle: self[.childIdle]
        case .working: self[.childWorking]
        case .draining: self[.childDraining]
        case .exited: self[.childExited]
        }
    }

    /// An action, from its name in the audit log.
    func action(_ name: String) -> String {
        let phrase: Phrase? =
            switch name {
            case "sign_in": .auditSignIn
            case "sign_out": .auditSignOut
            case "sign_in.refused": .auditRefused
            case "delivery.add": .auditDeliveryAdd
            case "delivery.weight": .auditDeliveryWeight
            case "delivery.one_time_code": .auditOneTimeCode
            case "delivery.no_code": .auditNoCode
            case "delivery.pause": .auditPause
            case "delivery.resume": .auditResume
            case "delivery.stop": .auditStop
            case "delivery.archive": .auditArchive
            case "delivery.unarchive": .auditUnarchive
            case "delivery.analyze": .auditAnalyse
            case "delivery.reschedule": .auditReschedule
            case "delivery.edit": .auditEdit
            case "delivery.plan": .auditPlan
            case "service.hours": .auditHours
            case "cap.set": .auditCapSet
            case "cap.drop": .auditCapDrop
            case "service.control_group": .auditControlGroup
            case "delivery.change": .auditChange
            case "delivery.samples": .auditSamples
            case "delivery.winner": .auditWinner
            case "delivery.request": .auditRequest
            case "delivery.approve": .auditApprove
            case "delivery.reject": .auditReject
            case "delivery.withdraw": .auditWithdraw
            case "delivery.recall": .auditRecall
            case "service.approval": .auditApprovalRule
            case "person.set": .auditPerson
            case "recurrence.set": .auditRecurrence
            case "recurrence.start": .auditRecurrenceStart
            case "recurrence.pause": .auditRecurrencePause
            case "recurrence.run": .auditRecurrenceRun
            case "recurrence.remove": .auditRecurrenceRemove
            case "delivery.preview": .auditMessagePreview
            case "host.drain": .auditDrain
            case "child.recycle": .auditRecycle
            case "subscriber.find": .auditFind
            case "subscriber.list": .auditList
            case "subscriber.show": .auditShow
            case "subscriber.opt_out": .auditOptOut
            case "subscriber.opt_in": .auditOptIn
            case "subscriber.unregister": .auditUnregister
            case "category.set": .auditCategorySet
            case "category.drop": .auditCategoryDrop
            case "subscriber.lift": .auditLift
            case "subscriber.forget": .auditForget
            case "delivery.outcomes": .auditOutcomes
            case "user.add": .auditUserAdd
            case "user.role": .auditUserRole
            case "user.password": .auditUserPassword
            case "user.remove": .auditUserRemove
            case "trace.unmasked": .auditTrace
            case "draft.add": .auditDraftAdd
            case "draft.save": .auditDraftSave
            case "draft.remove": .auditDraftRemove
            case "delivery.proof": .auditProof
            case "delivery.start": .auditStart
            case "subscription.preview": .auditPreview
            case "template.add": .auditTemplateAdd
            case "template.remove": .auditTemplateRemove
            case "service.add": .auditServiceAdd
            case "account.add": .auditAccountAdd
            case "application.add": .auditApplicationAdd
            case "application.copy": .auditApplicationCopy
            case "application.resume": .auditApplicationResume
            case "application.change": .auditApplicationChange
            case "account.change": .auditAccountChange
            case "service.change": .auditServiceChange
            case "application.test": .auditTest
            case "credential.set": .auditCredentialSet
            case "seed.add": .auditSeedAdd
            case "seed.remove": .auditSeedRemove
            case "delivery.follow": .auditFollow
            case "delivery.rate": .auditRate
            case "audience.save": .auditAudienceSave
            case "audience.remove": .auditAudienceRemove
            case "list.add": .auditListAdd
            case "list.remove": .auditListRemove
            case "list.put": .auditListPut
            case "list.take": .auditListTake
            case "list.find": .auditListFind
            case "alarm.acknowledge": .auditAlarm
            case "import.add": .auditImport
            case "import.undo": .auditImportUndo
            case "token.confirm": .auditTokenConfirm
            case "token.undo": .auditTokenUndo
            case "webhook.secret": .auditWebhookSecret
            case "webhook.enable": .auditWebhookEnable
            case "webhook.disable": .auditWebhookDisable
            case "webhook.resend": .auditWebhookResend
            default: nil
            }
        if let phrase { return self[phrase] }
        // Changes by the command line, the API and SQL: the kind of thing, and what was done to it.
        let words = name.split(separator: ".").map(String.init)
        return switch words.last {
        case "add": text(.auditAdded, kind(words[0]))
        case "change": text(.auditChanged, kind(words[0]))
        case "remove": text(.auditRemoved, kind(words[0]))
        default: name
        }
    }

    /// A kind of thing, from its name in the audit log.
    private func kind(_ name: String) -> String {
        switch name {
        case "service": self[.auditKindService]
        case "application": self[.auditKindApplication]
        case "account": self[.auditKindAccount]
        case "credential": self[.auditKindCredential]
        case "mapping": self[.auditKindMapping]
        case "key": self[.auditKindKey]
        case "list": self[.auditKindList]
        case "template": self[.auditKindTemplate]
        case "seed": self[.auditKindSeed]
        case "host": self[.auditKindHost]
        case "rate": self[.auditKindRate]
        case "signal": self[.auditKindSignal]
        case "consumer": self[.auditKindConsumer]
        case "webhook": self[.auditKindWebhook]
        default: name
        }
    }
}
