import PushCore

extension ContentValidator {
    /// APNs takes collapse ids of at most 64 bytes (Apple, "Sending notification requests to APNs").
    static let longestCollapseID = 64

    /// Checks what several keys of a section say together.
    mutating func checkWhole(_ section: ContentSection, _ path: String, isSound: Bool) {
        for name in section.entries.map(\.name) where name.hasSuffix("_loc_args") || name == "loc_args" {
            let key = String(name.dropLast("args".count)) + "key"
            if section.has(name), !section.has(key) {
                add(
                    "\(path).\(name)",
                    "there is no \(key) whose placeholders they are for",
                    "write \(key), or leave it out"
                )
            }
        }
        switch section.platform {
        case .ios: checkIOS(section, path, isSound: isSound)
        case .android: checkAndroid(section, path, isSound: isSound)
        }
        if isSound { checkNames(section, path) }
    }

    /// Checks that no variable has a name that something else has in the payload.
    private mutating func checkNames(_ section: ContentSection, _ path: String) {
        let taken = Set(
            section.platform == .ios
                ? APNsLayout(section).ownEntries.map(\.name) : FCMLayout(section).ownData.map(\.name)
        )
        for variable in section.variables where taken.contains(variable.name) {
            add(
                "\(path).variables.\(variable.name)",
                "another key of the content has this name in the payload",
                "keep one of them"
            )
        }
    }

    private mutating func checkIOS(_ section: ContentSection, _ path: String, isSound: Bool) {
        let layout = APNsLayout(section)
        let isVisible = layout.isVisible
        let type = layout.attributes.pushType
        if !isVisible, !layout.wakesApp, type == .alert || type == .background {
            // With a mistake in it, it may be just that.
            if isSound {
                add(
                    path,
                    "there is nothing to show and nothing to wake the app for",
                    "set one of title, subtitle, body, badge, sound, or content_available for a silent push"
                )
            }
        } else if type == .alert, !isVisible {
            add("\(path).push_type", "an alert push shows something, and this content does not", "leave it out")
        }
        if section.isTrue("silent"), isVisible {
            add(
                "\(path).silent",
                "a silent push shows nothing, and this content does",
                "leave out what is shown, or this"
            )
        }
        checkCollapseID(section, path)
        checkSoundAndBadge(section, path)
        if section.has("relevance_score"), section.has("relevance_percent") {
            add("\(path).relevance_percent", "relevance_score says it, too", "keep one of them")
        }
        for key in ["media_url", "template"] where section.has(key) && section.isFalse("mutable_content") {
            add("\(path).mutable_content", "\(key) needs it, and it is false", "leave it out")
        }
        if section.has("template"), section.has("category"), section.string("category") != RichTemplateKind.category {
            let category = RichTemplateKind.category
            add("\(path).category", "a rich template has the category \(category)", "leave it out")
        }
        checkNumbers(section.object("aps"), path)
        checkPushType(type, layout, section, path)
        checkRichTemplate(section, path)
    }

    /// A text in the place of a number gives one or is left out: one that is the same for everyone has to.
    private mutating func checkNumbers(_ aps: [JSONEntry], _ path: String) {
        for entry in aps where APNsLayout.numberKeys.contains(entry.name) {
            guard case .string(let text) = entry.value, let literal = (try? TextTemplate(text))?.literalText,
                CheckedTemplate.wholeNumber(Array(literal.utf8)) == nil
            else { continue }
            add(
                Self.path("\(path).aps", entry.name),
                "\"\(Self.short(literal))\" is no whole number",
                "write a number, or a text with fields that gives one"
            )
        }
    }

    private mutating func checkCollapseID(_ section: ContentSection, _ path: String) {
        guard let collapseID = section.text("collapse_id")?.literalText else { return }
        if collapseID.utf8.count > Self.longestCollapseID {
            add(
                "\(path).collapse_id",
                "it has \(collapseID.utf8.count) bytes",
                "shorten it to \(Self.longestCollapseID) bytes, which is what APNs takes"
            )
        }
        if !HeaderText.isValue(collapseID) {
            add(
                "\(path).collapse_id",
                "it begins or ends with a space or has a control character in it, which no header can carry",
                "leave that out"
            )
        }
    }

    private mutating func checkSoundAndBadge(_ section: ContentSection, _ path: String) {
        if let sound = section.group("sound"), sound.has("volume"), !sound.isTrue("critical") {
            add(
                "\(path).sound.volume",
                "only a critical sound has a volume of its own",
                "set critical to true, or leave it out"
            )
        }
        if section.isTrue("clear_badge"), section.has("badge"), section.number("badge") != "0" {
            add("\(path).clear_badge", "badge sets a number at the same time", "keep one of them")
        }
    }
}

extension ContentValidator {
    /// Checks what APNs would refuse, or what would be lost on the way, by the type of push.
    mutating func checkPushType(_ type: PushType, _ layout: APNsLayout, _ section: ContentSection, _ path: String) {
        switch type {
        case .background: checkBackground(layout, section, path)
        case .liveactivity: checkLiveActivity(layout.aps, section, path)
        case .widgets, .controls:
            if layout.aps["content-changed"] == nil {
                add(
                    "\(path).aps",
                    "a push of type \(type.rawValue) says that something has changed",
                    #"write {"content-changed": true}"#
                )
            }
        case .pushtotalk:
            if let priority = section.number("priority"), priority != "10" {
                add("\(path).priority", "APNs takes push-to-talk with priority 10 only", "leave it out")
            }
            if let seconds = section.number("expiration_seconds"), seconds != "0" {
                add("\(path).expiration_seconds", "APNs does not keep push-to-talk", "write 0, or leave it out")
            }
        case .alert, .location, .voip, .complication, .fileprovider: break
        }
        if section.has("template"), type != .alert {
            add("\(path).push_type", "a rich template is shown, so its push is an alert", "leave it out")
        }
    }

    private mutating func checkBackground(_ layout: APNsLayout, _ section: ContentSection, _ path: String) {
        if layout.isVisible, !section.isTrue("silent") {
            add(
                "\(path).push_type",
                "a background push shows nothing, and this content does",
                "write \"alert\", or leave it out"
            )
        }
        if !layout.wakesApp, layout.isVisible || section.has("push_type") {
            add("\(path).push_type", "a background push has to wake the app", "set content_available to true")
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
            add("\(path.dropLast(4)).priority", "APNs takes Live Activities with priority 10 or 5", "write 10 or 5")
        }
    }
}

extension PayloadNode {
    /// The text when it is the same for everyone, else nil.
    var literalText: String? {
        if case .text(let template) = self { template.literalText } else { nil }
    }
}
