import Content
import Foundation
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Changes of existing applications with their declarations, external accounts and services.
@Suite struct ApplicationChangeTests {
    private static let path = "/services/applications/1"

    /// A page's form, as a browser would send it.
    private func form(_ page: String) -> [String: String] {
        var form: [String: String] = [:]
        func plain(_ text: Substring) -> String {
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
                .reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
        }
        func attribute(_ name: String, _ tag: Substring) -> Substring? {
            tag.firstRange(of: " \(name)=\"").map { tag[$0.upperBound...].prefix { $0 != "\"" } }
        }
        let main = page.components(separatedBy: "<main").last?.components(separatedBy: "</main>").first ?? ""
        for tag in main.matches(of: /<input[^>]*>/).map(\.output) {
            guard let name = attribute("name", tag), attribute("type", tag) != "checkbox" else { continue }
            form[plain(name)] = plain(attribute("value", tag) ?? "")
        }
        for match in main.matches(of: /<select[^>]* name="([^"]*)"[^>]*>(.*?)<\/select>/.dotMatchesNewlines()) {
            let chosen = match.2.firstMatch(of: /<option value="([^"]*)" selected>/)?.1
            form[plain(match.1)] = plain(chosen ?? match.2.firstMatch(of: /<option value="([^"]*)"/)?.1 ?? "")
        }
        return form.filter { $0.key != "token" }
    }

    private func audit(_ site: ConsoleSite, _ action: String) async throws -> String {
        try await site.value(
            "SELECT string_agg(a.subject || ': ' || a.detail, '; ' ORDER BY a.id) FROM pushmta_engine.audit_log a WHERE a.action = '\(action)'"
        )
    }

    @Test func anApplicationIsChangedWithWhatItDeclares() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        try await site.admin.createAccount(name: "proxy", connector: .iosHTTP2, host: "proxy.example.com", port: 8_443)
        let path = Self.path + "/change"
        var form = form(try await admin.get(path).text)
        #expect(form["bundle"] == "com.shop" && form["account"] == "apns" && form["format"] == "uuid")
        form.merge([
            "label": "Shop & more", "account": "proxy", "rate": "250", "variable.0.name": "screen",
            "variable.0.type": "text", "variable.0.default": "home", "variable.0.label": "Screen",
            "variable.1.name": "", "variable.1.type": "text", "variable.1.default": "", "variable.1.label": " ",
            "sound.0.name": "chime.caf", "sound.0.origin": "", "sound.0.label": "", "parameter.0.name": "lang",
            "parameter.0.column": "locale", "go": "save",
        ]) { $1 }
        let saved = try await admin.post(path, form: form)
        #expect(saved.headers[.location] == Self.path + "?done=changed", "\(saved.text)")
        let row = try await site.admin.application(1)
        #expect(row.label == "Shop & more" && row.integrationKey == "ios-key" && row.bundleID == "com.shop")
        #expect(try await site.admin.account(named: "proxy").id == row.accountID)
        let declared = try await site.admin.declarations(application: "shop-ios")
        #expect(declared.variables.map(\.name) == ["screen"] && declared.variables.first?.defaultValue == "home")
        #expect(declared.sounds.map(\.name) == ["chime.caf"] && declared.parameters.first?.column == .locale)
        #expect(try await site.admin.applicationVersion(1).messagesPerSecond == 250)
        let words =
            "shop-ios: label shop-ios → Shop & more, account apns → proxy, variables: added screen, sounds: added chime.caf, subscription parameters: added lang, messages a second no limit → 250"
        #expect(try await audit(site, "application.change") == words)
        let page = try await admin.get(Self.path + "?done=changed").text
        #expect(
            page.contains("The application is changed") && page.contains("chime.caf")
                && page.contains("Shop &amp; more")
        )
        // Unchanged values are not recorded, and an empty field removes the limit.
        form = self.form(try await admin.get(path).text)
        #expect(form["rate"] == "250" && form["variable.0.label"] == "Screen")
        #expect(try await admin.post(path, form: form).status == .seeOther)
        form = self.form(try await admin.get(path).text)
        form["rate"] = ""
        form["variable.0.name"] = nil
        #expect(try await admin.post(path, form: form).status == .seeOther)
        #expect(try await site.admin.declarations(application: "shop-ios").variables.isEmpty)
        #expect(try await site.admin.applicationVersion(1).messagesPerSecond == nil)
        #expect(
            try await audit(site, "application.change").hasSuffix(
                "; shop-ios: variables: removed screen, messages a second 250 → no limit"
            )
        )
        await site.close()
    }

    @Test func problemsStandAtTheirFields() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        try await site.admin.createAccount(
            name: "sand",
            connector: .iosHTTP2,
            host: "api.sandbox.push.apple.com",
            port: 443
        )
        try await site.admin.createApplication(
            NewApplication(
                service: "shop",
                name: "other",
                platform: .ios,
                integrationKey: "other-key",
                bundleID: "com.shop"
            )
        )
        let path = Self.path + "/change"
        let form = form(try await admin.get(path).text)
        let variable = ["variable.0.type": "integer", "variable.0.default": "", "variable.0.label": ""]
        let cases: [([String: String], String, String)] = [
            (["label": "\u{7}"], "label", "control character"), (["bundle": "a b"], "bundle", "bundle"),
            (["key": ""], "key", "is empty"), (["key": "other-key"], "key", "already has this integration key"),
            (["format": ""], "format", "Choose int32 or uuid"), (["account": "sand"], "account", "sandbox"),
            (["account": "none"], "account", "no such account"), (["rate": "fast"], "rate", "not a rate"),
            (["rate": "0"], "rate", "not a rate"), (["rate": "1.000"], "rate", "thousands separator"),
            (["icon": "no icon!"], "icon", "PNG"),
            (["icon": "aGVsbG8="], "icon", "not a PNG file"),
            (variable.merging(["variable.0.name": "aps"]) { $1 }, "variable.0", "Apple"),
            (
                variable.merging(["variable.0.name": "n", "variable.0.default": "x"]) { $1 }, "variable.0",
                "whole number"
            ),
            (["sound.0.name": "a/b"], "sound.0", "without a folder"),
            (["sound.0.name": "a", "sound.1.name": "a"], "sound.1", "It is declared twice"),
            (["parameter.0.name": "a", "parameter.0.column": "b"], "parameter.0", "no column"),
            (["parameter.0.name": "", "parameter.0.column": "locale"], "parameter.0", "Its name is empty"),
        ]
        for (change, field, words) in cases {
            let answer = try await admin.post(path, form: form.merging(change) { $1 })
            #expect(answer.status == .unprocessableContent, "\(change): \(answer.status)")
            let problems = answer.text.matches(of: /<p class="field-problem"[^>]*>(.*?)<\/p>/).map(\.1)
            #expect(problems.count == 1, "\(change): \(problems)")
            #expect(problems.first?.contains(words) == true, "\(field), \(words): \(problems)")
            #expect(answer.text.contains("Nothing is saved") && answer.text.contains("role=\"alert\""))
            for (name, value) in change where name.hasSuffix("name") && !value.isEmpty {
                #expect(answer.text.contains("value=\"\(value)\""), "what was typed is gone: \(name)")
            }
        }
        // All problems at once.
        let all = try await admin.post(
            path,
            form: form.merging(["bundle": "a b", "rate": "x", "sound.0.name": "/"]) { $1 }
        )
        #expect(all.text.matches(of: /field-problem/).count == 3, "\(all.text)")
        #expect(try await audit(site, "application.change").isEmpty)
        // The format of message ids cannot change while a delivery is under way.
        _ = try await site.delivery()
        let answer = try await admin.post(path, form: form.merging(["format": "int32"]) { $1 })
        #expect(answer.status == .unprocessableContent && answer.text.contains("is under way"))
        #expect(try await site.admin.application(1).messageIDFormat == .uuid)
        await site.close()
    }

    @Test func whoSavesOverAChangeIsToldSo() async throws {
        let site = try await ConsoleSite.start()
        let (ada, bob) = (try await site.session(.admin, name: "ada"), try await site.session(.admin, name: "bob"))
        for path in [Self.path + "/change", "/services/accounts/1/change", "/services/change?service=shop"] {
            let first = form(try await ada.get(path).text)
            let second = form(try await bob.get(path).text)
            let changed = path.contains("accounts") ? ["host": "first.example.com"] : ["label": "First"]
            let late = path.contains("accounts") ? ["host": "second.example.com"] : ["label": "Second"]
            #expect(try await ada.post(path, form: first.merging(changed) { $1 }).status == .seeOther, "\(path)")
            let refused = try await bob.post(path, form: second.merging(late) { $1 })
            #expect(refused.status == .unprocessableContent, "\(path)")
            #expect(
                refused.text.contains("Another user has changed it") && refused.text.lowercased().contains("second")
            )
            // Sending the same page again is refused too.
            #expect(try await bob.post(path, form: form(refused.text)).status == .unprocessableContent)
            let again = form(try await bob.get(path).text)
            #expect(try await bob.post(path, form: again.merging(late) { $1 }).status == .seeOther)
        }
        #expect(try await site.admin.application(1).label == "Second")
        #expect(try await site.admin.account(1).host == "second.example.com")
        #expect(try await site.admin.service(named: "shop").label == "Second")
        #expect(try await audit(site, "service.change") == "shop: label Shop → First; shop: label First → Second")
        await site.close()
    }

    @Test func rowsAreAddedAndRemovedBeforeAnythingIsSaved() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        let path = Self.path + "/change"
        var form = form(try await admin.get(path).text)
        for (button, names) in [
            ("add.variable", ["variable.0.name"]), ("add.variable", ["variable.0.name", "variable.1.name"]),
            ("remove.variable.0", ["variable.0.name"]), ("add.sound", ["variable.0.name", "sound.0.name"]),
        ] {
            form["go"] = button
            if form["variable.1.name"] != nil { form["variable.1.name"] = "second" }
            form["label"] = "Typed before"
            let page = try await admin.post(path, form: form)
            #expect(page.status == .ok)
            form = self.form(page.text)
            #expect(Set(form.keys.filter { $0.hasSuffix(".name") }) == Set(names), "\(button)")
            #expect(form["label"] == "Typed before")
        }
        #expect(form["variable.0.name"] == "second")
        #expect(try await site.admin.application(1).label == "shop-ios")
        // As many rows as the form has, which are more fields than most forms accept.
        form = self.form(try await admin.get(path).text)
        for place in 0..<120 {
            form["variable.\(place).name"] = "v\(place)"
            form["variable.\(place).type"] = "number"
            form["variable.\(place).default"] = "\(place)"
        }
        #expect(try await admin.post(path, form: form).status == .seeOther)
        #expect(try await site.admin.declarations(application: "shop-ios").variables.count == 120)
        await site.close()
    }

    @Test func anIconIsUploadedAndTakenAway() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        let path = Self.path + "/change"
        // 48×48 pixels, made for this test.
        let icon =
            "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAYAAABXAvmHAAAARElEQVR42u3PQREAAAQAMGFkEl0dKvi622MBFlk9n4WAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAwNUCB0fILWrnUyIAAAAASUVORK5CYII="
        var form = form(try await admin.get(path).text)
        form["icon"] = icon
        let answer = try await admin.post(path, form: form)
        #expect(answer.status == .seeOther, "\(answer.text)")
        #expect(try await admin.get(Self.path + "/icon").headers[.contentType] == "image/png")
        form = self.form(try await admin.get(path).text)
        form["no_icon"] = "yes"
        #expect(try await admin.post(path, form: form).status == .seeOther)
        #expect(try await admin.get(Self.path + "/icon").status == .notFound)
        #expect(try await audit(site, "application.change") == "shop-ios: icon added; shop-ios: icon removed")
        await site.close()
    }

    @Test func anAccountIsChangedAndPausedOnRecord() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        try await site.admin.setAccount(name: "apns", options: #"{"ca_file": "/etc/ca.pem", "connections": 2}"#)
        let path = "/services/accounts/1/change"
        let form = form(try await admin.get(path).text)
        #expect(form["host"] == "localhost" && form["port"] == "443" && form["connections"] == "2")
        for (change, words) in [
            (["host": "a b"], "host"), (["host": "fcm.googleapis.com"], "android"), (["host": ""], "host"),
            (["port": "x"], "1 to 65535"), (["port": "70000"], "1 to 65535"),
            (["port": ""], "The port is not a number from 1 to 65535.</p>"), (["connections": "101"], "1 to 100"),
            (["rate": "-1"], "not a rate"), (["host": "api.sandbox.push.apple.com"], "shop-ios"),
            (["host": "api.push.apple.com", "port": "444"], "listens on"),
        ] {
            let answer = try await admin.post(path, form: form.merging(change) { $1 })
            #expect(answer.status == .unprocessableContent, "\(change)")
            let problem = answer.text.firstMatch(of: /<p class="field-problem">(.*?)<\/p>/)?.1 ?? ""
            #expect((problem + "</p>").localizedCaseInsensitiveContains(words), "\(change): \(problem)")
        }
        let wanted = ["host": "Proxy.example.com", "port": "8443", "connections": "", "rate": "0,5", "state": "paused"]
        let saved = try await admin.post(path, form: form.merging(wanted) { $1 })
        #expect(saved.headers[.location] == "/services/accounts/1?done=changed", "\(saved.text)")
        let account = try await site.admin.account(1)
        #expect(account.host == "proxy.example.com" && account.port == 8_443 && !account.active)
        #expect(account.options == #"{"ca_file": "/etc/ca.pem"}"#)
        #expect(
            try await audit(site, "account.change")
                == "apns: localhost:443 → proxy.example.com:8443, connections 2 → default, paused, messages a second no limit → 0.5"
        )
        let page = try await site.session(.read).get("/services/accounts/1").text
        for words in [
            "/etc/ca.pem", "must exist on each host", "nms/jsp/iosHTTP2.jsp", "It is paused", "shop-ios", "0.5",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!page.contains("/change"))
        var own = self.form(try await admin.get(path).text)
        own["ca_file"] = "/etc/other.pem"
        #expect(try await admin.post(path, form: own).status == .seeOther)
        #expect(try await site.admin.account(1).options == #"{"ca_file": "/etc/other.pem"}"#)
        own = self.form(try await admin.get(path).text)
        own["ca_file"] = ""
        #expect(try await admin.post(path, form: own).status == .seeOther)
        #expect(try await site.admin.account(1).options == "{}")
        #expect(
            try await audit(site, "account.change").hasSuffix(
                "; apns: ca file /etc/ca.pem → /etc/other.pem; apns: ca file /etc/other.pem → default"
            )
        )
        await site.close()
    }

    @Test func anAccountGetsAnotherConnectorByNameOrAccessURL() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        try await site.admin.createAccount(
            name: "fcm",
            connector: .androidV2,
            host: "fcm.googleapis.com",
            port: 443,
            options: #"{"ca_file": "/etc/ca.pem", "connections": 2}"#
        )
        let path = "/services/accounts/2/change"
        let form = form(try await admin.get(path).text)
        #expect(form["connector"] == "android-v2" && form["url"] == "" && form["ca_file"] == "/etc/ca.pem")
        for (change, words) in [
            (["connector": "smtp"], "Choose one from the list"), (["connector": "ios-http2"], "the other platform"),
            (["url": "https://localhost:8080/nms/jsp/ios.jsp"], "the other platform"),
            (["url": "https://localhost/other.js"], "not an access URL"),
            (["ca_file": "ca.pem"], "not the absolute path"),
            (["ca_file": "/etc/"], "not the absolute path"), (["ca_file": "/etc/\u{7}.pem"], "not the absolute path"),
        ] {
            let answer = try await admin.post(path, form: form.merging(change) { $1 })
            #expect(answer.status == .unprocessableContent && answer.text.contains(words), "\(change)")
        }
        let url = ["url": "https://campaign.example.com/nms/jsp/androidPushConnector.js"]
        #expect(try await admin.post(path, form: form.merging(url) { $1 }).status == .seeOther)
        var account = try await site.admin.account(2)
        #expect(account.connector == .androidV1 && account.host == "fcm.googleapis.com")
        #expect(account.options == #"{"ca_file": "/etc/ca.pem"}"#, "an option that the new connector has not")
        #expect(
            try await audit(site, "account.change")
                == "fcm: connector android-v2 → android-v1, connections 2 → default"
        )
        // A host that stands in for one gateway does not serve another, and Apple's own binary gateway is closed.
        let other = "/services/accounts/1/change"
        let ios = self.form(try await admin.get(other).text).merging(["connector": "ios-binary"]) { $1 }
        let refused = try await admin.post(other, form: ios)
        #expect(
            refused.status == .unprocessableContent && refused.text.contains("This host is a gateway for ios-http2")
        )
        let moved = ios.merging(["host": "standin.example.com", "port": "2195"]) { $1 }
        #expect(try await admin.post(other, form: moved).status == .seeOther)
        account = try await site.admin.account(1)
        #expect(account.connector == .iosBinary && account.host == "standin.example.com")
        await site.close()
    }

    @Test func aConnectorThatDoesNotTakeTheCredentialIsRefused() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        try await site.sql(
            """
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'key', 'k', '\\x00');
            UPDATE pushmta_engine.application SET credential_id = (SELECT c.id FROM pushmta_engine.credential c);
            """
        )
        let path = "/services/accounts/1/change"
        let wanted = ["connector": "ios-binary", "host": "standin.example.com", "port": "2195"]
        let form = form(try await admin.get(path).text).merging(wanted) { $1 }
        let answer = try await admin.post(path, form: form)
        #expect(answer.status == .unprocessableContent)
        #expect(answer.text.contains("ios-binary does not accept the credentials of these applications: shop-ios"))
        #expect(try await site.admin.account(1).connector == .iosHTTP2)
        await site.close()
    }

    @Test func aServiceGetsAMappingAndAnotherTrustOnRecord() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        try await site.sql(
            """
            INSERT INTO pushmta_engine.target_mapping (name, view_name, key_column) VALUES ('people', 'public.people', 'id')
            """
        )
        let path = "/services/change?service=shop"
        let form = form(try await admin.get(path).text)
        #expect(form["mapping"] == "" && form["trust"] == "open")
        let reader = try await site.session(.read)
        #expect(try await reader.get("/services").text.contains("standard: only subscriptions"))
        let wanted = ["mapping": "people", "trust": "server"]
        #expect(try await admin.post(path, form: form.merging(wanted) { $1 }).status == .seeOther)
        #expect(try await site.admin.service(named: "shop").mapping == "people")
        #expect(try await site.admin.userKeyTrust(service: "shop") == .server)
        let words = "shop: target mapping none → people, user key trust open → server"
        #expect(try await audit(site, "service.change") == words)
        let list = try await reader.get("/services").text
        #expect(list.contains("<bdi>people</bdi>") && list.contains("server: only the API and imports set it"))
        let next = self.form(try await admin.get(path).text)
        #expect(next["mapping"] == "people" && next["trust"] == "server")
        for (change, words) in [
            (["trust": "signed"], "no key to check proofs with"), (["trust": "all"], "Choose one from the list"),
            (["mapping": "none"], "no target mapping"),
        ] {
            let answer = try await admin.post(path, form: next.merging(change) { $1 })
            #expect(answer.status == .unprocessableContent && answer.text.contains(words), "\(change)")
        }
        // With a key for proofs, and back to the default.
        try await site.sql(
            """
            INSERT INTO pushmta_engine.service_proof_key (id, service_id, key_id, algorithm, public_key)
            VALUES (1, 1, 'k', 'ES256', decode(repeat('04', 65), 'hex'))
            """
        )
        let back = next.merging(["mapping": "", "trust": "signed"]) { $1 }
        #expect(try await admin.post(path, form: back).status == .seeOther)
        #expect(try await site.admin.service(named: "shop").mapping == nil)
        #expect(try await site.admin.userKeyTrust(service: "shop") == .signed)
        await site.close()
    }

    @Test func nobodyButAdministratorsChanges() async throws {
        let site = try await ConsoleSite.start()
        let paths = [Self.path + "/change", "/services/accounts/1/change", "/services/change?service=shop"]
        for role in [ConsoleRole.read, .marketing, .operate] {
            let browser = try await site.session(role)
            for path in paths {
                #expect(try await browser.get(path).status == .forbidden, "\(role) \(path)")
                #expect(try await browser.post(path, form: ["label": "x"]).status == .forbidden, "\(role) \(path)")
            }
            for page in [Self.path, "/services/accounts/1", "/services"] {
                #expect(try await !browser.get(page).text.contains("/change"), "\(role) \(page)")
            }
        }
        let admin = try await site.session(.admin)
        for path in paths {
            #expect(
                try await admin.post(path, form: ["label": "x"], token: String(repeating: "0", count: 64)).status
                    == .forbidden
            )
        }
        #expect(try await admin.get("/services/applications/99/change").status == .notFound)
        #expect(try await admin.get("/services/accounts/99/change").status == .notFound)
        #expect(try await admin.get("/services/change?service=none").status == .notFound)
        #expect(try await site.admin.application(1).label == "shop-ios")
        await site.close()
    }

    /// Saving the form does not lose values that a single-line field cannot show.
    @Test func whatAFieldCannotShowStays() throws {
        var earlier = ApplicationDeclarations()
        earlier.declare(try ApplicationVariable(name: "empty", type: .text, defaultValue: "", platform: .ios))
        earlier.declare(try ApplicationVariable(name: "lines", type: .text, defaultValue: "a\nb", platform: .ios))
        earlier.declare(try ApplicationVariable(name: "none", type: .url, label: "Link", platform: .ios))
        earlier.declare(try ApplicationSound(name: "ding", label: "Ding", isSystem: true))
        try earlier.declare(try SubscriptionParameter(name: "no", column: "recipient.no"))
        var form: [String: String] = [:]
        for (kind, list) in DeclarationRows(earlier).rows {
            for (place, row) in list.enumerated() {
                for (column, value) in row {
                    form[DeclarationRows.field(kind, place, column)] = value.filter { !$0.isNewline }
                }
            }
        }
        var problems: [String: String] = [:]
        #expect(DeclarationRows(form).declared(over: earlier, .ios, &problems) == earlier)
        form["variable.0.default"] = "now"
        let changed = DeclarationRows(form).declared(over: earlier, .ios, &problems)
        #expect(changed.variables.map(\.defaultValue) == ["now", "a\nb", nil] && problems.isEmpty)
        var rows = DeclarationRows(form)
        for button in ["", "save", "add", "add.nothing", "remove.variable", "remove.variable.x", "drop.variable.1"] {
            let isKnown = rows.press(button)
            #expect(!isKnown, "\(button)")
        }
        let isKnown = rows.press("remove.variable.99")
        #expect(isKnown && rows.rows[.variable]?.count == 3)
    }
}

/// The console's own HTTPS.
@Suite struct CertificateTests {
    private func make(_ folder: String) async throws {
        let words =
            "req -new -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=localhost -keyout \(folder)/key.pem -out \(folder)/cert.pem"
        try await Command.run("/usr/bin/openssl", words.split(separator: " ").map(String.init), log: folder + "/log")
    }

    private func fingerprint(_ folder: String, _ source: String) async throws -> String {
        let script = "\(source) | openssl x509 -noout -fingerprint -sha256"
        return try await Command.run("/bin/sh", ["-c", script], log: folder + "/log")
    }

    @Test func anotherCertificateIsTakenWithoutARestart() async throws {
        let folder = NSTemporaryDirectory() + "console-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await make(folder)
        let port = Int(try FreePort.find())
        let site = try await ConsoleSite.start {
            $0.port = port
            $0.certificateFile = folder + "/cert.pem"
            $0.privateKeyFile = folder + "/key.pem"
        }
        let (opened, open) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await site.server.run { open.yield($0) } }
        var ports = opened.makeAsyncIterator()
        #expect(await ports.next() == port)
        let ask = "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null"
        let first = try await fingerprint(folder, "cat \(folder)/cert.pem")
        #expect(try await fingerprint(folder, ask) == first)
        // Files that do not match change nothing.
        try "nothing".write(toFile: folder + "/key.pem", atomically: true, encoding: .utf8)
        site.server.reloadCertificate()
        #expect(try await fingerprint(folder, ask) == first)
        try await make(folder)
        let second = try await fingerprint(folder, "cat \(folder)/cert.pem")
        #expect(try await fingerprint(folder, ask) == first, "nobody has said that there is another one")
        site.server.reloadCertificate()
        #expect(try await fingerprint(folder, ask) == second && first != second)
        site.server.drain()
        try await running.value
        await site.admin.close()
    }
}
