import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Health signals are defined by administrators and followed by deliveries.
@Suite struct SignalPageTests {
    private static let fields = [
        "kind": "prometheus", "source": "https://metrics.example", "selector": "sum(load)", "good": "below",
        "interval": "2",
        "timeout": "1500", "reaction": "5", "stale": "20",
    ]

    @Test func anAdministratorDefinesChangesAndRemovesASignal() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        #expect(try await admin.get("/hosts").text.contains("/hosts/signals"))
        let none = try await admin.get("/hosts/signals").text
        #expect(none.contains("/hosts/signals/new") && !none.contains("An administrator defines one"))
        #expect(try await admin.get("/hosts/signals/new").status == .ok)
        var form = Self.fields
        form["name"] = "load"
        let added = try await admin.post("/hosts/signals/new", form: form)
        #expect(added.headers[.location] == "/hosts/signals?done=set", "\(added.text)")
        let list = try await admin.get("/hosts/signals?done=set").text
        #expect(list.contains("https://metrics.example") && list.contains("sum(load)") && list.contains("not in use"))
        // Who operates sees it and changes nothing.
        let operatorsList = try await site.session(.operate).get("/hosts/signals").text
        #expect(operatorsList.contains("load") && !operatorsList.contains("/hosts/signals/new"))

        let change = "/hosts/signals/change?name=load"
        #expect(try await admin.get(change).text.contains("value=\"sum(load)\""))
        form = Self.fields
        form["selector"] = "max(load)"
        #expect(try await admin.post(change, form: form).status == .seeOther)
        #expect(try await site.admin.healthSignals().map(\.signal.selector) == ["max(load)"])
        for (name, value) in [("interval", "often"), ("interval", "0"), ("source", "ftp://a"), ("selector", "")] {
            form = Self.fields
            form[name] = value
            let refused = try await admin.post(change, form: form)
            #expect(refused.status == .unprocessableContent, "\(name) \(value): \(refused.text)")
        }
        #expect(try await admin.get("/hosts/signals/change?name=none").status == .notFound)
        #expect(try await admin.get("/hosts/signals/remove?name=load").text.contains("Remove this health signal?"))
        #expect(try await admin.post("/hosts/signals/remove?name=load").status == .seeOther)
        #expect(try await site.admin.healthSignals().isEmpty)
        let audit = try await admin.get("/audit").text
        #expect(audit.contains("added a health signal") || audit.contains("a health signal"), "\(audit)")
        await site.close()
    }

    @Test func aDeliveryFollowsASignal() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        let page = "/deliveries/\(id)"
        let operatorsBrowser = try await site.session(.operate)
        #expect(try await !operatorsBrowser.get(page).text.contains("\(page)/follow"), "there is none to follow")
        #expect(try await operatorsBrowser.get("\(page)/follow").text.contains("No health signal is defined"))
        try await site.admin.setHealthSignal(HealthSignal(name: "load", kind: .http, source: "https://m.example"))
        #expect(try await operatorsBrowser.get(page).text.contains("\(page)/follow"))
        let form = ["signal": "load", "target": "0,8", "floor": "10", "ceiling": "500"]
        let followed = try await operatorsBrowser.post("\(page)/follow", form: form)
        #expect(followed.headers[.location] == "\(page)?done=follow", "\(followed.text)")
        let row = try #require(try await site.admin.signal(ofDelivery: id))
        #expect(row.signal == "load" && row.target == 0.8 && row.floor == 10 && row.ceiling == 500)
        let shown = try await operatorsBrowser.get("\(page)?done=follow").text
        #expect(
            shown.contains("signal load") && shown.contains("load: – (&lt; 0.8)")
                && shown.contains("The rate of the delivery is set."),
            "\(shown)"
        )
        #expect(try await operatorsBrowser.get("\(page)/follow").text.contains("value=\"0.8\""))
        for (name, value) in [("target", "0"), ("target", "much"), ("floor", ""), ("ceiling", "5")] {
            let wrong = form.merging([name: value]) { _, new in new }
            let refused = try await operatorsBrowser.post("\(page)/follow", form: wrong)
            #expect(refused.status == .unprocessableContent, "\(name) \(value): \(refused.text)")
        }
        // A delivery of somebody else.
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.post("\(page)/follow", form: form).status == .forbidden)
        #expect(try await operatorsBrowser.post("\(page)/follow", form: ["signal": ""]).status == .seeOther)
        #expect(try await site.admin.signal(ofDelivery: id) == nil)
        await site.close()
    }
}
