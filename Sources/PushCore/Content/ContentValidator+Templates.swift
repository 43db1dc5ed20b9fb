extension ContentValidator {
    /// Checks a rich template's own keys.
    mutating func checkTemplate(_ entries: [JSONEntry], _ path: String, _ platform: Platform) {
        let template = ContentSection(platform: platform, entries: entries)
        let kinds = RichTemplateKind.all(platform)
        guard let word = template.string("type"), let kind = RichTemplateKind(rawValue: word), kinds.contains(kind)
        else {
            add(
                "\(path).type",
                template["type"] == nil ? "it is missing" : "there is no such template on \(platform.rawValue)",
                "write \(Self.list(kinds.map(\.rawValue)))"
            )
            return
        }
        let type = ContentKey("type", .choice(kinds.map(\.rawValue)), "The template.")
        check(entries, keys: [type] + kind.keys(platform), path, platform)
        if kind == .timer, !template.hasAny(["timer_seconds", "timer_end"]) {
            add("\(path).timer_seconds", "the timer has no end", "write timer_seconds or timer_end")
        }
        let remindsLater = template.hasAny(["remind_at", "remind_seconds"])
        if template.has("remind_text") != remindsLater {
            let missing = remindsLater ? "remind_text" : "remind_at"
            add(
                "\(path).\(missing)",
                "the reminder needs a label and a time",
                "write remind_text and remind_at or remind_seconds"
            )
        }
        if remindsLater, template.list("buttons").count > 2 {
            add("\(path).buttons", "with the reminder there are more than three", "write two at most")
        }
    }

    /// Checks what a rich template needs of the section that it stands in.
    mutating func checkRichTemplate(_ section: ContentSection, _ path: String) {
        guard let kind = section.templateKind, let template = section.group("template") else { return }
        if kind.needsTitleAndBody {
            for (key, locKey) in [("title", "title_loc_key"), ("body", "loc_key")]
            where !section.has(key) && !(section.platform == .ios && section.has(locKey)) {
                add("\(path).\(key)", "a rich template is not shown without it", "write it")
            }
        }
        guard section.platform == .android else { return }
        if let link = template.string("link_type"), ["WEBURL", "DEEPLINK"].contains(link), !section.has("click_action")
        {
            add("\(path).click_action", "the template's link_type is \(link), and there is no address", "write it")
        }
        if let link = section.text("click_action"), !link.isLiteral, !template.has("link_type") {
            add(
                "\(path).template.link_type",
                "click_action has fields, so what it is cannot be told from it",
                "write WEBURL or DEEPLINK"
            )
        }
    }

    /// Checks that a link which opens an address has one.
    mutating func checkLink(_ item: ContentSection, link: String, type: String, _ path: String) {
        guard let word = item.string(type), ["WEBURL", "DEEPLINK"].contains(word), !item.has(link) else { return }
        add("\(path).\(link)", "its type is \(word), and there is no address", "write it")
    }
}
