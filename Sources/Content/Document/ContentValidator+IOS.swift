import PushCore

extension ContentValidator {
    /// APNs accepts collapse ids of at most 64 bytes (Apple, "Sending notification requests to APNs").
    static let maxCollapseIDLength = 64

    /// Checks the combinations of a section's keys.
    mutating func checkWhole(_ section: ContentSection, _ path: String, isSound: Bool) {
        for rule in ContentRule.rules(section.platform) where isSound || !rule.path.isEmpty {
            guard rule.isBroken(by: section) else { continue }
            let place = rule.path.isEmpty ? path : "\(path).\(rule.problem.key)"
            add(place, rule.problem.cause, rule.problem.remedy)
        }
        switch section.platform {
        case .ios: checkIOS(section, path, isSound: isSound)
        case .android: checkAndroid(section, path)
        }
        if isSound { checkNames(section, path) }
    }

    /// Checks that no variable has the payload name of another key.
    private mutating func checkNames(_ section: ContentSection, _ path: String) {
        let taken = Set(
            section.platform == .ios
                ? APNsLayout(section).ownEntries.map(\.name) : FCMLayout(section).ownData.map(\.name)
        )
        for variable in section.variables where taken.contains(variable.name) {
            add(
                "\(path).variables.\(variable.name)",
                ContentRule.takenName.cause,
                ContentRule.takenName.remedy
            )
        }
    }

    private mutating func checkIOS(_ section: ContentSection, _ path: String, isSound: Bool) {
        let layout = APNsLayout(section)
        let isVisible = layout.isVisible
        let type = layout.attributes.pushType
        if !isVisible, !layout.wakesApp, type == .alert || type == .background {
            // In a section with invalid values, one of those may be the cause.
            if isSound {
                add(path, ContentRule.nothingToShowIOS.cause, ContentRule.nothingToShowIOS.remedy)
            }
        } else if type == .alert, !isVisible {
            add("\(path).push_type", "an alert push shows something, and this content does not", "remove it")
        }
        if section.isTrue("silent"), isVisible {
            add("\(path).silent", ContentRule.silentShows.cause, ContentRule.silentShows.remedy)
        }
        checkCollapseID(section, path)
        checkSound(section, path)
        checkNumbers(section.object("aps"), path)
        checkPushType(type, layout, section, path)
        checkRichTemplate(section, path)
    }

    /// A text in the place of a number must result in one; otherwise it is left out of the message. A text without
    /// fields is checked now.
    private mutating func checkNumbers(_ aps: [JSONEntry], _ path: String) {
        for entry in aps where APNsLayout.numberKeys.contains(entry.name) {
            guard case .string(let text) = entry.value, let literal = (try? TextTemplate(text))?.literalText,
                CheckedTemplate.wholeNumber(Array(literal.utf8)) == nil
            else { continue }
            add(
                Self.path("\(path).aps", entry.name),
                "\"\(Self.short(literal))\" is not a whole number",
                "write a number, or a text with fields that results in one"
            )
        }
    }

    private mutating func checkCollapseID(_ section: ContentSection, _ path: String) {
        guard let collapseID = section.text("collapse_id")?.literalText else { return }
        if collapseID.utf8.count > Self.maxCollapseIDLength {
            add(
                "\(path).collapse_id",
                "it has \(collapseID.utf8.count) bytes",
                "shorten it to \(Self.maxCollapseIDLength) bytes, the limit of APNs"
            )
        }
        if !HeaderText.isValue(collapseID) {
            add(
                "\(path).collapse_id",
                "it begins or ends with a space, or has a control character, which no header can carry",
                "remove that"
            )
        }
    }

    private mutating func checkSound(_ section: ContentSection, _ path: String) {
        if let sound = section.group("sound"), sound.has("volume"), !sound.isTrue("critical") {
            add(
                "\(path).sound.volume",
                "only a critical sound has a volume of its own",
                "set critical to true, or leave it out"
            )
        }
    }
}

extension ContentValidator {
    /// Checks, by push type, for what APNs would refuse or the device would not get.
    mutating func checkPushType(_ type: PushType, _ layout: APNsLayout, _ section: ContentSection, _ path: String) {
        switch type {
        case .background: checkBackground(layout, section, path)
        case .liveactivity: checkLiveActivity(layout.aps, section, path)
        case .widgets, .controls:
            if layout.aps["content-changed"] == nil {
                add(
                    "\(path).aps",
                    "a push of type \(type.rawValue) must say that something has changed",
                    #"write {"content-changed": true}"#
                )
            }
        case .pushtotalk:
            if let priority = section.number("priority"), priority != "10" {
                add("\(path).priority", "APNs accepts push-to-talk only with priority 10", "leave it out")
            }
            if let seconds = section.number("expiration_seconds"), seconds != "0" {
                add("\(path).expiration_seconds", "APNs does not store push-to-talk", "write 0, or leave it out")
            }
        case .alert, .location, .voip, .complication, .fileprovider: break
        }
        if section.has("template"), type != .alert {
            add("\(path).push_type", "a rich template is visible, so its push is an alert", "leave it out")
        }
    }

    private mutating func checkBackground(_ layout: APNsLayout, _ section: ContentSection, _ path: String) {
        if layout.isVisible, !section.isTrue("silent") {
            add("\(path).push_type", ContentRule.backgroundShows.cause, ContentRule.backgroundShows.remedy)
        }
        if !layout.wakesApp, layout.isVisible || section.has("push_type") {
            add("\(path).push_type", ContentRule.backgroundSleeps.cause, ContentRule.backgroundSleeps.remedy)
        }
        if section.number("priority") == "10" {
            add("\(path).priority", "APNs refuses background pushes with priority 10", "write 5, or leave it out")
        }
    }

    /// Apple, "Starting and updating Live Activities with ActivityKit push notifications".
    private mutating func checkLiveActivity(_ aps: PayloadNode, _ section: ContentSection, _ path: String) {
        let path = "\(path).aps"
        let event = aps["event"]?.literalText
        if aps["event"] == nil || event.map(["start", "update", "end"].contains) == false {
            add("\(path).event", "a Live Activity starts, updates or ends", "write start, update or end")
        }
        if aps["timestamp"] == nil {
            add("\(path).timestamp", "it is missing", "write the time of the change in seconds since 1970")
        }
        var needed: [String] = []
        if event == "start" { needed = ["attributes-type", "attributes", "alert"] }
        if event == "start" || event == "update" { needed.append("content-state") }
        for key in needed where aps[key] == nil {
            add("\(path).\(key)", "a Live Activity cannot \(event ?? "start") without it", "write it")
        }
        if section.number("priority") == "1" {
            add(
                "\(path.dropLast(4)).priority",
                "APNs accepts Live Activities only with priority 10 or 5",
                "write 10 or 5"
            )
        }
    }
}

extension PayloadNode {
    /// The text if it has no fields, otherwise nil.
    var literalText: String? {
        if case .text(let template) = self { template.literalText } else { nil }
    }
}
