BEGIN TRANSACTION;
CREATE TABLE audit (
	position INTEGER NOT NULL, 
	ts VARCHAR(40) NOT NULL, 
	code VARCHAR(80) NOT NULL, 
	message TEXT NOT NULL, 
	run TEXT NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (code, message, run)
);
INSERT INTO "audit" VALUES(1,'2026-11-22T06:52:59.194108+00:00','file-removed','ledger ''b.jsonl'', 3bf2c554cf5b, was removed from this workspace','');
INSERT INTO "audit" VALUES(2,'2026-11-22T06:52:59.200299+00:00','file-restored','ledger ''b.jsonl'', 3bf2c554cf5b, was brought back','');
INSERT INTO "audit" VALUES(3,'2026-11-22T06:52:59.206149+00:00','file-removed','ledger ''b.jsonl'', 3bf2c554cf5b, was removed from this workspace (time 2)','');
INSERT INTO "audit" VALUES(4,'2026-11-22T06:52:59.210053+00:00','DTL-STRAT-006','evaluation aborted','r1');
CREATE TABLE files (
	position INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	added_at VARCHAR(40) NOT NULL, 
	bytes INTEGER NOT NULL, 
	path TEXT, 
	runs INTEGER NOT NULL, 
	origin VARCHAR(40), 
	graph_id TEXT, 
	graph_version INTEGER, 
	findings TEXT NOT NULL, 
	loss TEXT NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (digest)
);
INSERT INTO "files" VALUES(1,'e8f5b297477cd07f74ec8e4a8b62283734d33c6c7002ccb0012f5213e243d01c','a.jsonl','ledger','2026-11-22T06:52:59.102766+00:00',555,'ledgers/e8f5b297477cd07f74ec8e4a8b62283734d33c6c7002ccb0012f5213e243d01c.jsonl',1,NULL,NULL,NULL,'[]','[]');
INSERT INTO "files" VALUES(2,'bacd6614bbc9e177e0eaa5c86353b631f893ff1c7d25ada4d82b8b8e1523ed96','desk.plan.yaml','graph','2026-11-22T06:52:59.119775+00:00',120,'graphs/bacd6614bbc9e177e0eaa5c86353b631f893ff1c7d25ada4d82b8b8e1523ed96.plan.yaml',0,NULL,'desk',2,'[]','[]');
INSERT INTO "files" VALUES(3,'d371aaf17fba394b1354c64deec9b42965ca99165a67e3b980d8e20673dbee98','desk.plan.yaml','graph','2026-11-22T06:52:59.130119+00:00',121,'graphs/d371aaf17fba394b1354c64deec9b42965ca99165a67e3b980d8e20673dbee98.plan.yaml',0,NULL,'desk',2,'[]','[]');
INSERT INTO "files" VALUES(4,'4325b9d315daf8c0b075cade91e3256542320e7213a0ab418e7713e41406d7b4','desk.plan.yaml','graph','2026-11-22T06:52:59.140173+00:00',118,'graphs/4325b9d315daf8c0b075cade91e3256542320e7213a0ab418e7713e41406d7b4.plan.yaml',0,NULL,'desk',1,'[]','[]');
INSERT INTO "files" VALUES(5,'3bf2c554cf5bf42932fa4cf2f9359ca7db84c63a327ead1300b16a461ddc655d','b.jsonl','ledger','2026-11-22T06:52:59.151179+00:00',364,'ledgers/3bf2c554cf5bf42932fa4cf2f9359ca7db84c63a327ead1300b16a461ddc655d.jsonl',1,'devai',NULL,NULL,'[]','[]');
INSERT INTO "files" VALUES(6,'a2b50f92dd2e7f6945daf998af8ef607e80ce64debd403dbaa7f9acf0ea4f415','b2.jsonl','ledger','2026-11-22T06:52:59.162373+00:00',556,'ledgers/a2b50f92dd2e7f6945daf998af8ef607e80ce64debd403dbaa7f9acf0ea4f415.jsonl',1,'devai',NULL,NULL,'[]','[]');
INSERT INTO "files" VALUES(7,'28c0940839fcb46181cad03e3bcd2f9d5aac4a3b058200f3ab875e4b8fa237ae','forged.jsonl','ledger','2026-11-22T06:52:59.174081+00:00',555,'ledgers/28c0940839fcb46181cad03e3bcd2f9d5aac4a3b058200f3ab875e4b8fa237ae.jsonl',1,NULL,NULL,NULL,'[{"code":"run-head-differs","message":"another chain than the one recorded here (3 events ending in 806a0dfdb034…)","where":{"file":"forged.jsonl","line":null,"column":null,"run":"r1"},"hint":"Give another run another run id; where the file was replaced, ask where it came from.","severity":"error"}]','[]');
INSERT INTO "files" VALUES(8,'9333eae78711c85158eefb676752aab27594e870dedf531d0fa45f0669caa01b','t.json','devai','2026-11-22T06:52:59.182336+00:00',2,'sources/4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',0,NULL,NULL,NULL,'[]','["nothing"]');
CREATE TABLE heads (
	position INTEGER NOT NULL, 
	run_id TEXT NOT NULL, 
	file VARCHAR(64) NOT NULL, 
	events INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	accepted BOOLEAN NOT NULL, 
	superseded BOOLEAN NOT NULL, 
	recorded_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (run_id, file)
);
INSERT INTO "heads" VALUES(1,'r1','e8f5b297477cd07f74ec8e4a8b62283734d33c6c7002ccb0012f5213e243d01c',3,'806a0dfdb0341b20a5a56a9f3e9852d0281577c6acc455945bc64c509c7ea33c',1,0,'2026-11-22T06:52:59.106191+00:00');
INSERT INTO "heads" VALUES(2,'r2','3bf2c554cf5bf42932fa4cf2f9359ca7db84c63a327ead1300b16a461ddc655d',2,'7cb4af3186c1dbf7614c45fa13feb3f82e12f02419da7b514710a656b8496fdf',0,1,'2026-11-22T06:52:59.152155+00:00');
INSERT INTO "heads" VALUES(3,'r2','a2b50f92dd2e7f6945daf998af8ef607e80ce64debd403dbaa7f9acf0ea4f415',3,'e469129017e13667ebb4f20da8f2872bdd2c9d0df1f93428d16652a5c834695e',1,0,'2026-11-22T06:52:59.163411+00:00');
INSERT INTO "heads" VALUES(4,'r1','28c0940839fcb46181cad03e3bcd2f9d5aac4a3b058200f3ab875e4b8fa237ae',3,'806a0dfdb0341b20a5a56a9f3e9852d0281577c6acc455945bc64c509c7ea33c',0,0,'2026-11-22T06:52:59.175182+00:00');
CREATE TABLE removals (
	position INTEGER NOT NULL, 
	file VARCHAR(64) NOT NULL, 
	removed_at VARCHAR(40) NOT NULL, 
	restored_at VARCHAR(40), 
	PRIMARY KEY (position)
);
INSERT INTO "removals" VALUES(1,'3bf2c554cf5bf42932fa4cf2f9359ca7db84c63a327ead1300b16a461ddc655d','2026-11-22T06:52:59.191619+00:00','2026-11-22T06:52:59.199292+00:00');
INSERT INTO "removals" VALUES(2,'3bf2c554cf5bf42932fa4cf2f9359ca7db84c63a327ead1300b16a461ddc655d','2026-11-22T06:52:59.205281+00:00',NULL);
CREATE INDEX ix_heads_file ON heads (file);
CREATE INDEX ix_heads_run_id ON heads (run_id);
CREATE INDEX ix_removals_file ON removals (file);
COMMIT;
